import type { Clock } from '../../../os/clock.ts'
import type { DatabaseFacts, Store } from '../../../storage/store.ts'
import { OPERATOR } from '../access.ts'
import { type Operation, operation } from '../operation.ts'
import { nodeRecord } from './node-record.ts'

/** Facts cost PostgreSQL three connections, so requests within this time share them. */
const FRESH_MS = 10_000

/** The operation of `/v1/nodes`: the nodes of the installation, and its database. For the operator only. `now`: ms UTC. */
export function nodeOperations({ store, clock }: { store: Pick<Store, 'nodes'>; clock: Clock }): Operation[] {
  let facts: { at: number; found: Promise<DatabaseFacts | null> } | undefined
  const database = (at: number) => {
    if (facts !== undefined && Math.abs(at - facts.at) < FRESH_MS) return facts.found
    const found = store.nodes.database(clock.now)
    found.catch(() => {
      facts = undefined
    })
    facts = { at, found }
    return found
  }
  return [
    operation({
      id: 'nodes_list',
      method: 'GET',
      path: '/v1/nodes',
      tag: 'Operator',
      access: OPERATOR,
      summary: 'List the nodes',
      description:
        'Nodes of an installation on PostgreSQL by name, with facts about the database. Without PostgreSQL, there is one server and the list is empty.',
      responses: async () => (await import('../responses/nodes.ts')).nodeResponses,
      async handle({ now: at }) {
        const [nodes, found] = await Promise.all([store.nodes.list(), database(at)])
        return { status: 200, body: { data: nodes.map(nodeRecord), database: found && databaseRecord(found) } }
      },
    }),
  ]
}

function databaseRecord(facts: DatabaseFacts) {
  return {
    version: facts.version,
    size_bytes: facts.sizeBytes,
    connections: facts.connections,
    max_connections: facts.maxConnections,
    round_trip_ms: Math.round(facts.roundTripMs * 100) / 100,
    oldest_transaction_seconds:
      facts.oldestTransactionMs === null ? null : Math.round(facts.oldestTransactionMs / 1000),
    standbys: facts.standbys.map(({ name, isSynchronous, lagMs }) => ({
      name,
      is_synchronous: isSynchronous,
      lag_ms: lagMs === null ? null : Math.round(lagMs),
    })),
  }
}
