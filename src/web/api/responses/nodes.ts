import { z } from 'zod'
import type { ResponseShape } from '../operation.ts'
import { count, EXAMPLE_TIME, time, timeOrNull } from './fields.ts'

/** Response of `/v1/nodes`; routes/nodes.ts builds it. */

const node = z
  .strictObject({
    name: z.string(),
    hostname: z.string().describe('Public hostname of its machine.'),
    version: z.string(),
    state: z
      .enum(['active', 'draining', 'silent', 'ended'])
      .describe(
        '`draining`: other nodes take over its work. `silent`: no contact with the database for two seconds. `ended`: it has stopped, or other nodes ended it.',
      ),
    in_progress: count.describe('Attempts in progress.'),
    started_at: time,
    seen_at: time,
    ended_at: timeOrNull,
  })
  .meta({ id: 'Node' })
const standby = z.strictObject({
  name: z.string().nullable(),
  is_synchronous: z
    .boolean()
    .nullable()
    .describe('Whether commits wait for it. Null if the database user may not see it.'),
  lag_ms: count.nullable(),
})
const database = z
  .strictObject({
    version: z.string(),
    size_bytes: count,
    connections: count,
    max_connections: count,
    round_trip_ms: z.number(),
    oldest_transaction_seconds: count.nullable().describe('Null when no transaction is open.'),
    standbys: z.array(standby),
  })
  .meta({ id: 'Database' })

export const nodeResponses: ResponseShape[] = [
  {
    status: 200,
    description: 'Nodes, and the database; null without PostgreSQL.',
    schema: z.strictObject({ data: z.array(node), database: database.nullable() }).meta({ id: 'Nodes' }),
    example: {
      data: [
        {
          name: 'mx1.example.com',
          hostname: 'mx1.example.com',
          version: '1.4.0',
          state: 'active',
          in_progress: 3,
          started_at: EXAMPLE_TIME,
          seen_at: EXAMPLE_TIME,
          ended_at: null,
        },
      ],
      database: {
        version: '17.2',
        size_bytes: 48_000_000_000,
        connections: 31,
        max_connections: 100,
        round_trip_ms: 0.42,
        oldest_transaction_seconds: null,
        standbys: [{ name: 'db2', is_synchronous: true, lag_ms: 2 }],
      },
    },
  },
]
