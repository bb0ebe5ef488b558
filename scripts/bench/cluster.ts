import { nodes } from './cluster/nodes.ts'
import { server } from './cluster/server.ts'
import { store } from './cluster/store.ts'
import { waiting } from './cluster/waiting.ts'
import type { Part } from './part.ts'

/** Nodes on one PostgreSQL, beside SQLite in the same round. */
export const cluster: Part[] = [store, server, nodes, waiting]
