import type { Config } from '../config/load.ts'
import { iso } from '../model/event.ts'
import { LINK_MS } from '../model/session.ts'
import { foldedEmail, type User } from '../model/user.ts'
import { systemClock } from '../os/clock.ts'
import { systemRandom } from '../os/random.ts'
import type { Store } from '../storage/store.ts'
import { hashToken, mintToken } from '../web/api/sessions.ts'
import { withCliContext } from './cli-context.ts'
import { CommandFailure, usageFault } from './failure.ts'
import { print, printError, printJson } from './print.ts'
import { asServed } from './serving.ts'

interface Options {
  config: string
  /** Address or ID of the operator. */
  user?: string
  removePassword?: true
  json?: true
}

/** Creates and prints a link that signs an operator in to the dashboard. `removePassword` also removes the operator's
 *  password and ends the operator's sessions. Throws CommandFailure if the dashboard is off, and without `user` if
 *  there are several operators. */
export async function loginLink(options: Options): Promise<void> {
  await withCliContext(options.config, async ({ config, store, operator }) => {
    if (!config.http.dashboard) throw new CommandFailure('The dashboard is off. Set http.dashboard = true to sign in.')
    const served = asServed(config)
    const { id } = await requireOperator(store, options.user)
    const about = { organizationId: null, body: options.removePassword ? { password: null } : {} }
    const link = await operator.manage('login_links_create', about, async () => {
      if (options.removePassword) await store.users.setPassword(id, null, null)
      return makeLoginLink(store, served.http.publicUrl, id)
    })
    if (options.json) return printJson({ url: link.url, expires_at: iso(link.expiresAt) })
    print(link.url)
    printError(`\nThe link works once and expires after ${LINK_MINUTES} minutes.${hintOf(served)}`)
  })
}

/** The named operator, or the only one; links are for operators only. Throws CommandFailure without one of that name,
 *  and for several without a name. */
async function requireOperator({ users }: Pick<Store, 'users'>, name: string | undefined): Promise<User> {
  const operators = await users.operators()
  const [only, ...others] = operators
  if (name === undefined && only !== undefined && others.length === 0) return only
  const list = operators.map(({ id, email }) => email ?? id).join(', ')
  if (name === undefined) throw usageFault(`login-link: choose an operator with --user: ${list}`)
  const named = operators.find(({ id, email }) => id === name || email === foldedEmail(name))
  if (named === undefined) throw new CommandFailure(`login-link: no operator ${name}. Operators: ${list}`)
  return named
}

/** A sign-in link; `expiresAt` is ms UTC. */
export interface LoginLink {
  url: string
  expiresAt: number
}

/** Creates a sign-in link of an operator below `publicUrl`; `expiresAt` is ms UTC. The store contains only a hash of
 *  the token. The token is in the fragment, which browsers do not send, so it is in no server log, proxy log or Referer
 *  header. */
export async function makeLoginLink(
  store: Pick<Store, 'sessions'>,
  publicUrl: string,
  userId: string,
): Promise<LoginLink> {
  const token = mintToken(systemRandom)
  const now = systemClock.now()
  const expiresAt = now + LINK_MS
  await store.sessions.addLink({ tokenHash: hashToken(token), userId, createdAt: now, expiresAt })
  return { url: `${publicUrl}/dashboard/sign-in#token=${token}`, expiresAt }
}

/** Lifetime of a link. */
export const LINK_MINUTES = LINK_MS / 60_000

/** A sentence on how to reach a dashboard that listens on loopback of a remote server, or that has no listener. It
 *  starts with a space; '' if no hint is needed. */
export function hintOf({ hostname, http: { listen, listenTls, publicUrl } }: Config): string {
  if (listen === null) return listenTls === null ? ' http.listen is off, so nothing listens at this address.' : ''
  if (!/^http:\/\/(127\.|localhost|\[::1\])/.test(publicUrl)) return ''
  return ` From another machine, run: ssh -L ${listen.port}:127.0.0.1:${listen.port} ${hostname}`
}
