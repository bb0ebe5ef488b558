import { iso } from '../../../model/event.ts'
import type { Session } from '../../../model/session.ts'
import type { Store } from '../../../storage/store.ts'
import { OPERATOR } from '../access.ts'
import { requireFound } from '../errors.ts'
import { type Operation, operation } from '../operation.ts'
import { pageResponse, recordsRequest } from '../page.ts'
import { deleted } from '../rendered-response.ts'
import { recordsQuery } from '../schema.ts'

/** The operations of `/v1/sessions`: list and end dashboard sessions of all users. The pages at `/session` sign in
 *  and out (web/api/sign-in/). */
export function sessionOperations({ store }: { store: Pick<Store, 'sessions'> }): Operation[] {
  return [
    operation({
      id: 'sessions_list',
      method: 'GET',
      path: '/v1/sessions',
      tag: 'Operator',
      access: OPERATOR,
      summary: 'List dashboard sessions',
      responses: async () => (await import('../responses/sessions.ts')).sessionResponses.list,
      query: recordsQuery,
      handle: async ({ query, now }) =>
        pageResponse(await store.sessions.list(now, recordsRequest(query)), sessionRecord),
    }),
    operation({
      id: 'sessions_delete',
      method: 'DELETE',
      path: '/v1/sessions/:session_id',
      tag: 'Operator',
      access: OPERATOR,
      summary: 'End a dashboard session',
      responses: async () => (await import('../responses/sessions.ts')).sessionResponses.deleted,
      load: async ({ params }) => requireFound(await store.sessions.get(params.session_id ?? ''), 'session'),
      async handle({ resource }) {
        await store.sessions.end(resource.id)
        return deleted(resource.id)
      },
    }),
  ]
}

export function sessionRecord({ id, userId, createdAt, lastSeenAt, endsAt, ipAddress, userAgent }: Session) {
  return {
    id,
    user_id: userId,
    created_at: iso(createdAt),
    last_seen_at: iso(lastSeenAt),
    ends_at: iso(endsAt),
    ip_address: ipAddress,
    user_agent: userAgent,
  }
}
