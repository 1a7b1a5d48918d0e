"""The explorer: a page on which one watches the Perceptron learn, the bound hold, and a hopeless set be hopeless.

    requests    what a page may ask, checked
    page        what the browser gets: views, and page/engine, which computes everything about points of the plane
    engine      the answer about wide rows: a whole recorded run with its verdict, from the public surface alone
    own_table   a file of any width, seen through two columns or across its hyperplane
    server      the page on a port of this machine, behind `security`
    widget      the same page in a notebook
    export      the same page as one file that needs neither, and as one script

An answer holds every update of a run, so that going back and forth is free.
"""
