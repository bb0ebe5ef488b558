import type { User } from '../../model/user.ts'
import type { MailObstacle, UserMail } from '../../sending/submission/user-mail.ts'
import type { Store } from '../../storage/store.ts'
import { hashToken } from './sessions.ts'

/** Links that set a user's password; one of them can be used. The address gets one of its own, and only that one, or one
 *  that the operator makes at the console, proves that the address is the user's. */
export interface PasswordLink {
  /** To be shown to whoever asked. */
  token: string
  /** ms UTC. */
  expiresAt: number
  /** Why the user gets no mail with the other link; null = it is queued. */
  obstacle: MailObstacle | null
}

/** Creates the links and sends one to the user, if mail goes. They work for one hour, or for seven days while the user has
 *  no password; earlier links of the user stop working. `asked`: somebody asked on the sign-in page. `atConsole`: the
 *  operator did, on the command line. `change` runs the write, so that an audit entry can join it. Rejects with the error
 *  of the store. */
export async function createPasswordLink(
  { store, userMail }: { store: Pick<Store, 'users'>; userMail: Pick<UserMail, 'mintLink' | 'send'> },
  user: User,
  {
    now,
    asked = false,
    atConsole = false,
    change = (write) => write(),
  }: { now: number; asked?: boolean; atConsole?: boolean; change?: (write: () => Promise<void>) => Promise<void> },
): Promise<PasswordLink> {
  const { id, email } = user
  const mailed = await userMail.mintLink()
  const { token } = await userMail.mintLink()
  const isNew = (await store.users.passwordHash(id)) === null
  const expiresAt = now + (isNew ? FIRST_PASSWORD_MS : RESET_MS)
  const reset = { userId: id, createdAt: now, expiresAt }
  const links = [
    { ...reset, tokenHash: hashToken(mailed.token), isProof: true },
    { ...reset, tokenHash: hashToken(token), isProof: atConsole },
  ]
  await change(() => store.users.addResets(links))
  const text = { kind: 'password', email: email ?? '', isNew, asked, expiresAt } as const
  return { token, expiresAt, obstacle: await userMail.send({ to: email, text, link: mailed, expiresAt }, now) }
}

export const RESET_MS = 60 * 60_000
export const FIRST_PASSWORD_MS = 7 * 86_400_000
