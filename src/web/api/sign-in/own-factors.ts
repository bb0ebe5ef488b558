import { iso } from '../../../model/event.ts'
import type { Page } from '../route-table.ts'
import { waysToConfirm } from './confirm.ts'
import { json, type SignInContext } from './context.ts'

/** `GET /session/factors`: what the user signs in with, and how a change is confirmed. */
export function ownFactorsPage(context: SignInContext): Page {
  return { method: 'GET', path: '/session/factors', handle: (request) => show(context, request) }
}

async function show(context: SignInContext, request: Request): Promise<Response> {
  const { user } = await context.requireSession(request)
  const { factors } = context.store
  const [ways, left, passkeys] = await Promise.all([
    waysToConfirm(context, user.id),
    factors.recoveryCodesLeft(user.id),
    factors.passkeys(user.id),
  ])
  return json({
    has_password: ways.password,
    two_step: ways.code,
    recovery_codes_left: left,
    passkeys: passkeys.map(({ id, name, createdAt, lastUsedAt }) => ({
      id,
      name,
      created_at: iso(createdAt),
      last_used_at: lastUsedAt === null ? null : iso(lastUsedAt),
    })),
  })
}
