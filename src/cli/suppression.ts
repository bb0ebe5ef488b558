import type { SuppressionReason } from '../model/suppression.ts'
import { inOffice } from './office.ts'
import { requireOrganization } from './org.ts'
import { harmless, print, printJson, table } from './print.ts'

interface Options {
  config: string
  json?: true
  org?: string
}

/** Prints the addresses that get no mail, newest first. */
export async function listSuppressions(
  options: Options & { email?: string; reason?: SuppressionReason; limit: number },
): Promise<void> {
  const { email, reason, limit } = options
  await inOffice(options.config, async ({ store, operator }) => {
    const { id: organizationId } = await requireOrganization(options.org, store)
    const query = { limit: String(limit), ...(email && { email }), ...(reason && { reason }) }
    const answer = await operator.run('suppressions_list', { organizationId, query })
    if (options.json) return printJson(answer)
    const records = answer.data as Record<string, unknown>[]
    const rows = records.map((each) => [
      String(each.created_at),
      harmless(String(each.email)),
      String(each.reason),
      harmless(String(each.evidence ?? '-')),
    ])
    print(table(['since', 'address', 'reason', 'evidence'], rows) || 'no such address is suppressed')
  })
}

/** Has an address, or one suppression by its id, get mail again. */
export async function removeSuppression(idOrEmail: string, options: Options): Promise<void> {
  await inOffice(options.config, async ({ store, operator }) => {
    const { id: organizationId } = await requireOrganization(options.org, store)
    const params = { id_or_email: idOrEmail }
    const answer = await operator.run('suppressions_delete', { organizationId, params })
    if (options.json) printJson(answer)
    else print(`${idOrEmail} gets mail again`)
  })
}
