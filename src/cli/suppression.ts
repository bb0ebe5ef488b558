import type { SuppressionReason } from '../model/suppression.ts'
import { withCliContext } from './cli-context.ts'
import { requirePlace } from './domain.ts'
import { requireOrganization } from './org.ts'
import { print, printJson, sanitize, table } from './print.ts'

interface Options {
  config: string
  json?: true
  org?: string
}

/** Prints the newest `limit` suppressions that match the filters, newest first, or "no suppressions". Throws
 *  CommandFailure for an unknown `org`. */
export async function listSuppressions(
  options: Options & { email?: string; reason?: SuppressionReason; stream?: string; limit: number },
): Promise<void> {
  const { email, reason, stream, limit } = options
  await withCliContext(options.config, async ({ store, operator }) => {
    const { id: organizationId } = await requireOrganization(options.org, store)
    const filters = { ...(email && { email }), ...(reason && { reason }), ...(stream && { stream }) }
    const query = { limit: String(limit), ...filters }
    const answer = await operator.run('suppressions_list', { organizationId, query })
    if (options.json) return printJson(answer)
    const rows = answer.data.map((each) => [
      each.created_at,
      sanitize(each.email),
      each.reason,
      sanitize(each.stream ?? 'all'),
      sanitize(String(each.evidence ?? '-')),
    ])
    print(table(['since', 'address', 'reason', 'stream', 'source'], rows) || 'no suppressions')
  })
}

/** Suppresses an address and prints the suppression's id. Throws CommandFailure for an unknown `org` or `domain`, and
 *  Refusal for an address that is invalid or already suppressed, and for an unknown stream. */
export async function addSuppression(
  email: string,
  options: Options & { domain?: string; reason: SuppressionReason; stream?: string },
): Promise<void> {
  await withCliContext(options.config, async ({ store, operator }) => {
    const { organizationId, domainId } = await requirePlace(options, store)
    const body = { email, reason: options.reason, domain_id: domainId, stream: options.stream }
    const suppression = await operator.run('suppressions_create', { organizationId, body })
    if (options.json) printJson(suppression)
    else print(`suppressed ${sanitize(suppression.email)} (${suppression.id})`)
  })
}

/** Removes all suppressions of an address, or one suppression by its id. Throws CommandFailure for an unknown `org`,
 *  and Refusal if there is no such suppression. */
export async function removeSuppression(idOrEmail: string, options: Options): Promise<void> {
  await withCliContext(options.config, async ({ store, operator }) => {
    const { id: organizationId } = await requireOrganization(options.org, store)
    const params = { id_or_email: idOrEmail }
    const answer = await operator.run('suppressions_delete', { organizationId, params })
    if (options.json) printJson(answer)
    else print(`removed suppression of ${idOrEmail}`)
  })
}
