import type { Config, Setting } from '../../../config/load.ts'
import { OPERATOR } from '../access.ts'
import { type Operation, operation } from '../operation.ts'
import { planRecord } from './plan-record.ts'

/** The operations of `/v1/configuration` and `/v1/plans`: the effective configuration. For the operator only. */
export function configurationOperations(deps: {
  settings: () => readonly Setting[]
  config: Pick<Config, 'plans'>
}): Operation[] {
  return [
    operation({
      id: 'configuration_get',
      method: 'GET',
      path: '/v1/configuration',
      tag: 'Operator',
      access: OPERATOR,
      summary: 'Retrieve the effective configuration',
      description: 'Every config key with its value and source. Secrets are masked.',
      responses: async () => (await import('../responses/configuration.ts')).configurationResponses,
      handle: async () => ({
        status: 200,
        body: {
          data: deps.settings().map(({ key, value, source, isGiven }) => ({ key, value, source, is_given: isGiven })),
        },
      }),
    }),
    operation({
      id: 'plans_list',
      method: 'GET',
      path: '/v1/plans',
      tag: 'Operator',
      access: OPERATOR,
      summary: 'List the configured plans and their limits',
      responses: async () => (await import('../responses/configuration.ts')).planListResponses,
      handle: async () => ({
        status: 200,
        body: {
          data: Object.entries(deps.config.plans).map(([plan, limits]) => ({
            plan,
            ...planRecord(limits),
          })),
        },
      }),
    }),
  ]
}
