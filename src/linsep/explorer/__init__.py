"""The explorer: a page that shows the Perceptron learning, the bound holding, and why some rows are not separable.

    requests    what a page may ask, checked
    page        what the browser gets: views, and page/engine, which computes everything about points of the plane
    engine      the answer about wide rows: a whole recorded run with its verdict, from the public API alone
    own_table   a table of any width, seen along two columns or across its hyperplane
    server      the page on a port of this machine, protected by `security`
    widget      the same page in a notebook
    export      the same page as one file that needs neither, and as one script

An answer holds every update of a run, so that going back and forth needs no further request.
"""
