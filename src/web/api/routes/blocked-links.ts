import { z } from 'zod'
import { type BlockedLink, blockedTarget, MOST_BLOCKED_LINKS } from '../../../model/blocked-link.ts'
import { iso } from '../../../model/event.ts'
import { Refusal } from '../../../model/refusal.ts'
import type { MintId } from '../../../os/ids.ts'
import type { Store } from '../../../storage/store.ts'
import { OPERATOR } from '../access.ts'
import { requireFound } from '../errors.ts'
import { type Call, type Operation, operation } from '../operation.ts'
import { pageResponse, recordsRequest } from '../page.ts'
import { BLOCKED_TARGET } from '../patterns.ts'
import { deleted } from '../rendered-response.ts'
import { characters, label, recordsQuery } from '../schema.ts'

/** PostgreSQL's index takes 2,704 bytes, and a character that a URL escapes has up to twelve. */
const MOST_CHARACTERS = 2_000

const createBody = z.strictObject({
  target: characters(MOST_CHARACTERS)
    .meta({
      ...BLOCKED_TARGET,
      description: 'A host, including its subdomains, or a URL, including every URL that starts with it.',
    })
    .transform((text, context) => {
      const target = blockedTarget(text)
      if (target !== null && target.value.length <= MOST_CHARACTERS) return target
      context.addIssue(
        target === null
          ? 'must be a host such as evil.example, or a URL that starts with https://'
          : `must have at most ${MOST_CHARACTERS} characters, percent-encoded`,
      )
      return z.NEVER
    }),
  reason: label(200).describe('For the operator. Recipients do not see it.'),
})

/** The operations of `/v1/blocked-links`: targets to which click tracking does not redirect. For the operator only. */
export function blockedLinkOperations(deps: { store: Pick<Store, 'blockedLinks'>; mintId: MintId }): Operation[] {
  const { store, mintId } = deps
  const load = async ({ params }: Call) =>
    requireFound(await store.blockedLinks.get(params.blocked_link_id ?? ''), 'blocked link')
  return [
    operation({
      id: 'blocked_links_list',
      method: 'GET',
      path: '/v1/blocked-links',
      tag: 'Operator',
      access: OPERATOR,
      summary: 'List blocked link targets',
      responses: async () => (await import('../responses/blocked-links.ts')).blockedLinkResponses.list,
      query: recordsQuery,
      handle: async ({ query }) =>
        pageResponse(await store.blockedLinks.list(recordsRequest(query)), blockedLinkRecord),
    }),
    operation({
      id: 'blocked_links_create',
      method: 'POST',
      path: '/v1/blocked-links',
      tag: 'Operator',
      access: OPERATOR,
      summary: 'Block an abused link target',
      description:
        'Tracked links of every organization to this target return a 410 page that explains the block, including links in messages already sent. Blocked clicks are not counted.',
      responses: async () => (await import('../responses/blocked-links.ts')).blockedLinkResponses.created,
      refusals: ['conflict', 'quota_exceeded'],
      example: { target: 'phishing.example', reason: 'reported by a recipient' },
      body: createBody,
      async handle({ body: { target, reason }, now, remember }) {
        const link = { id: mintId('blk'), ...target, reason, createdAt: now }
        const answer = { status: 201, body: blockedLinkRecord(link) }
        remember(answer) // gives the audit log the ID of the created record
        const result = await store.blockedLinks.add(link)
        if (result === 'added') return answer
        if (result === 'conflict') throw new Refusal('conflict', 'This target is already blocked.', { field: 'target' })
        const details = { limit: MOST_BLOCKED_LINKS, used: MOST_BLOCKED_LINKS, resets_at: null }
        throw new Refusal('quota_exceeded', `At most ${MOST_BLOCKED_LINKS} targets can be blocked. Remove one first.`, {
          details,
        })
      },
    }),
    operation({
      id: 'blocked_links_delete',
      method: 'DELETE',
      path: '/v1/blocked-links/:blocked_link_id',
      tag: 'Operator',
      access: OPERATOR,
      summary: 'Unblock a link target',
      responses: async () => (await import('../responses/blocked-links.ts')).blockedLinkResponses.deleted,
      load,
      async handle({ resource }) {
        await store.blockedLinks.remove(resource.id)
        return deleted(resource.id)
      },
    }),
  ]
}

/** Blocked link → its JSON record, for the API and the command line. */
export function blockedLinkRecord({ id, kind, value, reason, createdAt }: BlockedLink) {
  return { id, kind, target: value, reason, created_at: iso(createdAt) }
}
