import type { Fault } from '../long/fault.ts'
import { database } from './database.ts'
import { failover } from './failover.ts'
import { bytes, network } from './network.ts'
import { frozen, nodes } from './nodes.ts'
import { connections, disk, refusals, snapshot } from './obstacles.ts'
import { clock, revocation } from './settings.ts'

/** Faults of two nodes on one PostgreSQL. */
export const cluster: Fault[] = [
  nodes,
  frozen,
  database,
  failover,
  network,
  bytes,
  refusals,
  snapshot,
  connections,
  disk,
  clock,

  revocation,
]
