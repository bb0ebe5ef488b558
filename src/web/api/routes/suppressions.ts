import { z } from 'zod'
import { iso } from '../../../model/event.ts'
import { withinLimit } from '../../../model/limits.ts'
import { invalid, Refusal } from '../../../model/refusal.ts'
import { pastedKey, SUPPRESSION_REASONS, type Suppression, suppressionKey } from '../../../model/suppression.ts'
import { pathParameter } from '../../../net/path-parameter.ts'
import { isId, type MintId } from '../../../os/ids.ts'
import { requireStream, type SendingConfig } from '../../../sending/submission/streams.ts'
import type { Store } from '../../../storage/store.ts'
import { rule } from '../access.ts'
import { type Call, type Operation, operation } from '../operation.ts'
import { pageRequest, pageResponse } from '../page.ts'
import { deleted } from '../rendered-response.ts'
import { characters, emailAddress, pageFields, streamName, timeFields, timeRange } from '../schema.ts'
import { isWithin, modeOfRecords, requireWithin, type Scope, scopeOf, withoutOnlyDomain } from '../scope.ts'

const listQuery = z.strictObject({
  ...pageFields,
  ...timeFields,
  email: emailAddress.optional(),
  reason: z.enum(SUPPRESSION_REASONS).optional().meta({ example: 'hard_bounce' }),
  stream: streamName.optional().describe('Only suppressions of this stream, without those of every stream.'),
  q: characters(254).optional().describe('Beginning of an address or of its domain.'),
})
const createBody = z.strictObject({
  email: emailAddress,
  domain_id: z
    .string()
    .nullish()
    .describe(
      'ID or name of a domain. Absent or null: the whole organization. If the organization has several domains, a key without `admin` can only suppress for its own.',
    ),
  stream: streamName
    .nullish()
    .describe(
      'Absent or null: every stream. With the reason `complaint`, it also applies to every other stream except `transactional`.',
    ),
  reason: z.enum(SUPPRESSION_REASONS).default('manual'),
})

/** The operations of `/v1/suppressions`: addresses that get no mail. A path contains an ID, or an address, which
 *  selects all its suppressions. */
export function suppressionOperations(deps: {
  store: Pick<Store, 'suppressions' | 'domains'>
  mintId: MintId
  config: { sending: Pick<SendingConfig, 'streams'> }
}): Operation[] {
  const { store, mintId, config } = deps
  /** The suppressions in the path that the key can read: those of its domain and of the whole organization. Rejects
   *  with `not_found` if there are none, and with `forbidden` for the ID of another organization's or domain's
   *  suppression. */
  const loadSeen = async (call: Call): Promise<OneOrMore<Suppression>> => {
    const scope = scopeOf(call.key)
    const name = pathParameter(call, 'id_or_email')
    if (!name.includes('@')) {
      const found = isId('sup', name) ? await store.suppressions.get(name) : null
      requireWithin(found === null ? null : seenAs(found, scope), scope, 'suppression')
      if (found !== null) return [found]
    }
    const all = await store.suppressions.find(scope.organizationId, pastedKey(name))
    const [first, ...others] = all.filter((each) => isWithin(scope, seenAs(each, scope)))
    if (first === undefined) throw new Refusal('not_found', 'No such suppression. Check the ID or address.')
    return [first, ...others]
  }

  /** The suppressions in the path that the key can remove. Those of the whole organization require `admin`, unless the
   *  organization has only one domain. Rejects with `forbidden` if the key can read but not remove them. */
  const loadChanged = async (call: Call): Promise<OneOrMore<Suppression>> => {
    const seen = await loadSeen(call)
    const scope = await withoutOnlyDomain(scopeOf(call.key), store)
    const [first, ...others] = seen.filter((each) => isWithin(scope, each))
    return first === undefined ? [requireWithin(seen[0], scope, 'suppression')] : [first, ...others]
  }

  return [
    operation({
      id: 'suppressions_list',
      method: 'GET',
      path: '/v1/suppressions',
      tag: 'Suppressions',
      access: rule('read', 'viewer', 'test_records', 'own_or_shared'),
      tool: {
        name: 'list_suppressions',
        description:
          'Lists addresses to which Postrider does not send, with the reason (hard_bounce, complaint, unsubscribe or manual) and the stream; null is every stream.',
      },
      summary: 'List suppressions',
      responses: async () => (await import('../responses/suppressions.ts')).suppressionListResponses,
      query: listQuery,
      async handle({ key, query }) {
        const email = query.email === undefined ? null : suppressionKey(query.email)
        const beginning = pastedKey(query.q?.trim().replace(/^@/, '') ?? '') || null
        const filter = { ...scopeOf(key), email, beginning, reason: query.reason ?? null, stream: query.stream ?? null }
        return pageResponse(
          await store.suppressions.list({ ...filter, ...timeRange(query) }, pageRequest(query)),
          suppressionRecord,
        )
      },
    }),
    operation({
      id: 'suppressions_create',
      method: 'POST',
      path: '/v1/suppressions',
      tag: 'Suppressions',
      access: rule('manage', 'support', 'test_records', 'own_or_shared'),
      tool: {
        name: 'add_suppression',
        description:
          'Stops mail to an address, for one domain or the whole organization, and for one stream or all of them.',
      },
      summary: 'Add a suppression',
      description:
        'For one domain or for the whole organization, and for one stream or for every stream. Returns 409 if the address is suppressed there already; `POST /v1/suppressions/import` can be repeated.',
      responses: async () => (await import('../responses/suppressions.ts')).suppressionCreatedResponses,
      refusals: ['quota_exceeded'],
      example: { email: 'please-stop@customer.example' },
      body: createBody,
      idempotent: true,
      async handle({ key, organizationId, now, body, remember }) {
        const scope = await withoutOnlyDomain(scopeOf(key), store)
        const domainId = body.domain_id === undefined ? scope.domainId : body.domain_id
        if (domainId !== null) {
          const domain = await store.domains.get(domainId)
          if (domain === null)
            throw invalid([{ field: 'domain_id', message: 'domain_id does not match any domain of this organization' }])
          requireWithin({ ...domain, domainId }, scope, 'domain')
        } else if (scope.domainId !== null) {
          throw new Refusal('forbidden', 'Suppressing an address for every domain requires a key with admin.', {
            field: 'domain_id',
          })
        }
        const { stream = null } = body
        if (stream !== null) requireStream(stream, config.sending)
        const suppression: Suppression = {
          id: mintId('sup'),
          organizationId,
          domainId,
          stream,
          email: suppressionKey(body.email),
          reason: body.reason,
          messageId: null,
          createdAt: now,
          evidence: null,
          mode: modeOfRecords(key),
        }
        const answer = { status: 201, body: suppressionRecord(suppression) }
        const result = withinLimit(await store.suppressions.add(suppression, remember(answer)), now)
        if (result.kind === 'added') return answer
        throw new Refusal('conflict', 'This address is already suppressed.', {
          field: 'email',
          details: { suppression_id: result.suppression.id, reason: result.suppression.reason },
        })
      },
    }),
    operation({
      id: 'suppressions_get',
      method: 'GET',
      path: '/v1/suppressions/:id_or_email',
      tag: 'Suppressions',
      access: rule('read', 'viewer', 'test_records', 'own_or_shared'),
      summary: 'Retrieve a suppression',
      description: 'By ID or address. For an address, returns the suppression with the widest scope.',
      responses: async () => (await import('../responses/suppressions.ts')).suppressionResponses,
      load: loadSeen,
      handle: async ({ resource }) => ({ status: 200, body: suppressionRecord(widest(resource)) }),
    }),
    operation({
      id: 'suppressions_delete',
      method: 'DELETE',
      path: '/v1/suppressions/:id_or_email',
      tag: 'Suppressions',
      access: rule('manage', 'support', 'test_records', 'own_or_shared'),
      tool: {
        name: 'remove_suppression',
        description:
          'Allows mail to an address again. Mail to an address that bounced or complained damages the reputation of the sender, so ask a person first.',
      },
      summary: 'Remove a suppression',
      description: 'Deletes one suppression by ID, or all suppressions of an address.',
      responses: async () => (await import('../responses/suppressions.ts')).suppressionDeletedResponses,
      load: loadChanged,
      async handle({ resource, now }) {
        await store.suppressions.remove(
          resource.map(({ id }) => id),
          now,
        )
        return deleted(widest(resource).id)
      },
    }),
  ]
}

/** Suppression → the same suppression for a check of read access. One of the whole organization counts as one of the
 *  scope's domain, because it applies to that domain too. */
function seenAs(suppression: Suppression, { domainId }: Scope): Suppression {
  return suppression.domainId === null ? { ...suppression, domainId } : suppression
}

/** Suppressions of an address → the one of the whole organization, else the first; of these, one of every stream. */
function widest(suppressions: OneOrMore<Suppression>): Suppression {
  const isWide = ({ domainId, stream }: Suppression) => 2 * Number(domainId === null) + Number(stream === null)
  return suppressions.reduce((widest, each) => (isWide(each) > isWide(widest) ? each : widest))
}

type OneOrMore<T> = [T, ...T[]]

/** Suppression → its JSON record. */
export function suppressionRecord(suppression: Suppression) {
  return {
    id: suppression.id,
    email: suppression.email,
    reason: suppression.reason,
    domain_id: suppression.domainId,
    stream: suppression.stream,
    message_id: suppression.messageId,
    created_at: iso(suppression.createdAt),
    evidence: suppression.evidence,
    mode: suppression.mode,
  }
}
