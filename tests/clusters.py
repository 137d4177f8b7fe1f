"""Options of the Dask clusters that tests start."""

from typing import Any

# Any free port on this machine: tests in other processes have clusters at the same time. Of None,
# Dask makes its usual port, and warns that it is taken.
FREE_PORTS: Any = {
    "dashboard_address": "127.0.0.1:0",
    "worker_dashboard_address": "127.0.0.1:0",
}
