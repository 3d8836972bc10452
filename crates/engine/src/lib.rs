//! Plans and runs jobs: phases, lane blocks, statistics.
