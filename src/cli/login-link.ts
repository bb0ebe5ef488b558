import { hashToken, mintToken } from '../api/sessions.ts'
import type { Config } from '../config/load.ts'
import { iso } from '../model/event.ts'
import { LINK_MS } from '../model/session.ts'
import { systemClock } from '../os/clock.ts'
import { systemRandom } from '../os/random.ts'
import type { Store } from '../storage/store.ts'
import { CommandFailure } from './failure.ts'
import { inOffice } from './office.ts'
import { complain, print, printJson } from './print.ts'
import { asServed } from './serving.ts'

interface Options {
  config: string
  removePassword?: true
  json?: true
}

/** Makes a link that signs the operator in to the dashboard, and prints it. With `--remove-password` a password that was
 *  forgotten goes, and every session with it. */
export async function loginLink(options: Options): Promise<void> {
  await inOffice(options.config, async ({ config, store, operator }) => {
    if (!config.http.dashboard) throw new CommandFailure('http.dashboard is false: there is nothing to sign in to')
    const served = asServed(config)
    const about = { organizationId: null, body: options.removePassword ? { password: null } : {} }
    const link = await operator.manage('login_links_create', about, async () => {
      if (options.removePassword) await store.sessions.setPassword(null, null, systemClock.now())
      return makeLoginLink(store, served.http.publicUrl)
    })
    if (options.json) return printJson({ url: link.url, expires_at: iso(link.expiresAt) })
    print(link.url)
    complain(`\nOpens the dashboard once, within ${LINK_MINUTES} minutes.${hintOf(served)}`)
  })
}

export interface LoginLink {
  url: string
  expiresAt: number
}

/** A new link below `publicUrl`, stored as a hash. The token stands behind the #, which browsers keep to themselves: no
 *  log of a server or a proxy has it, and no Referer. */
export async function makeLoginLink(store: Pick<Store, 'sessions'>, publicUrl: string): Promise<LoginLink> {
  const token = mintToken(systemRandom)
  const now = systemClock.now()
  const expiresAt = now + LINK_MS
  await store.sessions.addLink({ tokenHash: hashToken(token), createdAt: now, expiresAt })
  return { url: `${publicUrl}/dashboard/sign-in#token=${token}`, expiresAt }
}

export const LINK_MINUTES = LINK_MS / 60_000

/** On a server nobody sits at: how to reach what listens on loopback. */
export function hintOf({ hostname, http: { listen, listenTls, publicUrl } }: Config): string {
  if (listen === null) return listenTls === null ? ' http.listen is off: nothing answers there.' : ''
  if (!/^http:\/\/(127\.|localhost|\[::1\])/.test(publicUrl)) return ''
  return ` From another machine: ssh -L ${listen.port}:127.0.0.1:${listen.port} ${hostname}`
}
