import { z } from 'zod'
import { iso } from '../../../model/event.ts'
import { checkRecord } from '../../../operating/health/check.ts'
import type { Health, HealthWatch } from '../../../operating/health/watch.ts'
import { OPERATOR } from '../access.ts'
import { type Operation, operation } from '../operation.ts'

/** The operations of `/v1/health-checks`: the checks of `postrider doctor`, which the server also runs. For the
 *  operator only. */
export function healthOperations({ health }: { health: HealthWatch }): Operation[] {
  const answerOf = (found: Health | null) => ({ status: 200, body: toWire(found) })
  return [
    operation({
      id: 'health_checks_list',
      method: 'GET',
      path: '/v1/health-checks',
      tag: 'Operator',
      access: OPERATOR,
      summary: 'Retrieve the latest health checks',
      description:
        'Results for the machine, DNS and the queue, with advice. Checks run every hour. The list is empty until the first run, one minute after start.',
      responses: async () => (await import('../responses/health-checks.ts')).healthResponses,
      handle: async () => answerOf(health.latest()),
    }),
    operation({
      id: 'health_checks_run',
      method: 'POST',
      path: '/v1/health-checks/run',
      tag: 'Operator',
      access: OPERATOR,
      takesNoTurn: true,
      summary: 'Run health checks now',
      description: 'All checks run in parallel, at most six seconds each. Concurrent requests share one run.',
      responses: async () => (await import('../responses/health-checks.ts')).healthResponses,
      unaudited: 'looks',
      body: z.strictObject({}),
      bodyOptional: true,
      handle: async () => answerOf(await health.look()),
    }),
  ]
}

function toWire(found: Health | null) {
  if (found === null) return { checked_at: null, ok: null, checks: [] }
  return { checked_at: iso(found.checkedAt), ok: found.hasNoFailure, checks: found.checks.map(checkRecord) }
}
