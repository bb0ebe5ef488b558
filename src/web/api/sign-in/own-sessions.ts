import type { Page } from '../route-table.ts'
import { sessionRecord } from '../routes/sessions.ts'
import { json, type Peer, type SignInContext } from './context.ts'
import { describeSession } from './describe.ts'
import { sessionCookie } from './open-session.ts'

/** The pages with which users read their session, list their sessions, and sign out, here or everywhere else. */
export function ownSessionPages(context: SignInContext): Page[] {
  return [
    { method: 'GET', path: '/session', handle: (request) => show(context, request) },
    { method: 'DELETE', path: '/session', handle: (request, _, peer) => signOut(context, request, peer) },
    { method: 'GET', path: '/session/all', handle: (request) => list(context, request) },
    { method: 'DELETE', path: '/session/all', handle: (request, _, peer) => signOutOthers(context, request, peer) },
  ]
}

async function show(context: SignInContext, request: Request): Promise<Response> {
  return json(await describeSession(context, await context.requireSession(request)))
}

async function signOut(context: SignInContext, request: Request, peer: Peer): Promise<Response> {
  const { session, user } = await context.requireSession(request)
  context.requireOwnPage(request)
  const { id } = session
  const address = context.addressOf(request, peer)
  await context.audited({ action: 'sessions_delete', user, resourceId: id, address }, () =>
    context.store.sessions.end(id),
  )
  return json({ id, deleted: true }, { 'set-cookie': sessionCookie('', 0, context.ownOrigin.isSecure(request)) })
}

async function list(context: SignInContext, request: Request): Promise<Response> {
  const { session, user } = await context.requireSession(request)
  const page = { limit: 100, after: null, createdAfter: null, createdBefore: null }
  const { records } = await context.store.sessions.list(context.clock.now(), page, user.id)
  return json({ data: records.map((each) => ({ ...sessionRecord(each), is_current: each.id === session.id })) })
}

/** Ends the user's sessions except this one. */
async function signOutOthers(context: SignInContext, request: Request, peer: Peer): Promise<Response> {
  const { session, user } = await context.requireSession(request)
  context.requireOwnPage(request)
  const address = context.addressOf(request, peer)
  await context.audited({ action: 'users_sessions_delete', user, resourceId: session.id, address }, () =>
    context.store.sessions.endOf(user.id, session.id),
  )
  return list(context, request)
}
