"""What the pages ask for, a module for each; `lns.web.app` puts them at their addresses.

``READS`` and ``CHANGES`` of a module hold its handlers by address below ``/api/``: of requests that change nothing
(GET), and of those that change or compute something (POST).
"""
