//! The service as tools for agents, by the Model Context Protocol.
