import { z } from 'zod'
import { iso } from '../../model/event.ts'
import { invalid, Refusal } from '../../model/refusal.ts'
import { SUPPRESSION_REASONS, type Suppression, suppressionKey } from '../../model/suppression.ts'
import { isId, type MintId } from '../../platform/ids.ts'
import type { Store } from '../../storage/store.ts'
import { deleted } from '../answer.ts'
import { requireOwned } from '../errors.ts'
import { type Call, type Operation, operation } from '../operation.ts'
import { pageAnswer, pageRequest } from '../page.ts'
import { emailAddress, pageFields, timeFields, timeRange } from '../schema.ts'

const listQuery = z.strictObject({
  ...pageFields,
  ...timeFields,
  email: emailAddress.optional(),
  reason: z.enum(SUPPRESSION_REASONS).optional(),
})
const createBody = z.strictObject({
  email: emailAddress,
  domain_id: z.string().nullish().describe('Absent: the whole organization.'),
  reason: z.enum(SUPPRESSION_REASONS).default('manual'),
})

/** `/v1/suppressions`: addresses that get no mail. A path names one by its id, or by the address, which stands for
 *  every suppression of it (contract §5). */
export function suppressionOperations(deps: {
  store: Pick<Store, 'suppressions' | 'domains'>
  mintId: MintId
}): Operation[] {
  const { store, mintId } = deps
  const load = async ({ params, organizationId }: Call): Promise<Suppression[]> => {
    const name = params.id_or_email!
    const found = name.includes('@')
      ? await store.suppressions.find(organizationId, suppressionKey(name))
      : [isId('sup', name) ? await store.suppressions.get(name) : null]
    if (found.length === 0) found.push(null)
    return found.map((suppression) => requireOwned(suppression, organizationId, 'suppression'))
  }

  return [
    operation({
      id: 'suppressions_list',
      method: 'GET',
      path: '/v1/suppressions',
      permission: 'read',
      summary: 'List suppressed addresses, newest first',
      answers: async () => (await import('../answers/suppressions.ts')).suppressionListAnswers,
      query: listQuery,
      async handle({ organizationId, query }) {
        const email = query.email === undefined ? null : suppressionKey(query.email)
        const filter = { organizationId, email, reason: query.reason ?? null, ...timeRange(query) }
        return pageAnswer(await store.suppressions.list(filter, pageRequest(query)), suppressionRecord)
      },
    }),
    operation({
      id: 'suppressions_create',
      method: 'POST',
      path: '/v1/suppressions',
      permission: 'manage',
      summary: 'Suppress an address for one domain or for the whole organization',
      answers: async () => (await import('../answers/suppressions.ts')).suppressionCreatedAnswers,
      example: { email: 'please-stop@customer.example' },
      body: createBody,
      idempotent: true,
      async handle({ organizationId, now, body, remember }) {
        const domainId = body.domain_id ?? null
        if (domainId !== null) {
          const domain = await store.domains.get(domainId)
          if (domain === null) throw invalid([{ field: 'domain_id', message: 'domain_id names no domain' }])
          requireOwned(domain, organizationId, 'domain')
        }
        const suppression: Suppression = {
          id: mintId('sup'),
          organizationId,
          domainId,
          email: suppressionKey(body.email),
          reason: body.reason,
          messageId: null,
          createdAt: now,
          evidence: null,
        }
        const answer = { status: 201, body: suppressionRecord(suppression) }
        const result = await store.suppressions.add(suppression, remember(answer))
        if (result.kind === 'added') return answer
        throw new Refusal('conflict', 'this address is already suppressed', {
          field: 'email',
          details: { suppression_id: result.suppression.id, reason: result.suppression.reason },
        })
      },
    }),
    operation({
      id: 'suppressions_get',
      method: 'GET',
      path: '/v1/suppressions/:id_or_email',
      permission: 'read',
      summary: 'Read one suppression by id or address; of an address the one that reaches furthest',
      answers: async () => (await import('../answers/suppressions.ts')).suppressionAnswers,
      load,
      handle: async ({ resource }) => ({ status: 200, body: suppressionRecord(widest(resource)) }),
    }),
    operation({
      id: 'suppressions_delete',
      method: 'DELETE',
      path: '/v1/suppressions/:id_or_email',
      permission: 'manage',
      summary: 'Remove one suppression by id, or all of an address',
      answers: async () => (await import('../answers/suppressions.ts')).suppressionDeletedAnswers,
      load,
      async handle({ resource }) {
        await store.suppressions.remove(resource.map(({ id }) => id))
        return deleted(widest(resource).id)
      },
    }),
  ]
}

/** Of several for one address: the one for the whole organization, else the first. */
function widest(suppressions: Suppression[]): Suppression {
  return suppressions.find(({ domainId }) => domainId === null) ?? suppressions[0]!
}

/** Suppression → its record (contract §5). */
export function suppressionRecord(suppression: Suppression) {
  return {
    id: suppression.id,
    email: suppression.email,
    reason: suppression.reason,
    domain_id: suppression.domainId,
    message_id: suppression.messageId,
    created_at: iso(suppression.createdAt),
    evidence: suppression.evidence,
  }
}
