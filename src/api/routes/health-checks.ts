import { z } from 'zod'
import type { Health, HealthWatch } from '../../health/watch.ts'
import { iso } from '../../model/event.ts'
import { type Operation, operation } from '../operation.ts'

/** `/v1/health-checks`: what `postrider doctor` looks at, looked at by the server itself; for the operator alone. */
export function healthOperations({ health }: { health: HealthWatch }): Operation[] {
  const answerOf = (found: Health | null) => ({ status: 200, body: toWire(found) })
  return [
    operation({
      id: 'health_checks_list',
      method: 'GET',
      path: '/v1/health-checks',
      summary: 'What the last look at machine, DNS and queue found, and what to do',
      description: 'The server looks every hour. Before its first look, a minute after the start, there are no checks.',
      answers: async () => (await import('../answers/health-checks.ts')).healthAnswers,
      handle: async () => answerOf(health.latest()),
    }),
    operation({
      id: 'health_checks_run',
      method: 'POST',
      path: '/v1/health-checks/run',
      summary: 'Look now; takes some seconds',
      description: 'All at once, at most six seconds each. Who asks while a look is under way gets what that finds.',
      answers: async () => (await import('../answers/health-checks.ts')).healthAnswers,
      unaudited: 'looks',
      body: z.strictObject({}),
      bodyOptional: true,
      handle: async () => answerOf(await health.look()),
    }),
  ]
}

function toWire(found: Health | null) {
  if (found === null) return { checked_at: null, ok: null, checks: [] }
  return { checked_at: iso(found.checkedAt), ok: found.isWell, checks: found.checks }
}
