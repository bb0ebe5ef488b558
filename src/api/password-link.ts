import type { User } from '../model/user.ts'
import type { Store } from '../storage/store.ts'
import type { MailObstacle, UserMail } from '../submission/user-mail.ts'
import { hashToken } from './sessions.ts'

/** A link that sets a user's password. `obstacle`: why the user gets no mail with it; null = it is queued. */
export interface PasswordLink {
  token: string
  /** ms UTC. */
  expiresAt: number
  obstacle: MailObstacle | null
}

/** Creates a link and sends it to the user, if mail goes. It works for one hour, or for seven days while the user has no
 *  password; earlier links of the user stop working. `asked`: somebody asked for it on the sign-in page. `change` runs the
 *  write, so that an audit entry can join it. Rejects with the error of the store. */
export async function createPasswordLink(
  { store, userMail }: { store: Pick<Store, 'users'>; userMail: Pick<UserMail, 'mintLink' | 'send'> },
  user: User,
  {
    now,
    asked = false,
    change = (write) => write(),
  }: { now: number; asked?: boolean; change?: (write: () => Promise<void>) => Promise<void> },
): Promise<PasswordLink> {
  const { id, email } = user
  const link = await userMail.mintLink()
  const { token } = link
  const isNew = (await store.users.passwordHash(id)) === null
  const expiresAt = now + (isNew ? FIRST_PASSWORD_MS : RESET_MS)
  await change(() => store.users.addReset({ tokenHash: hashToken(token), userId: id, createdAt: now, expiresAt }))
  const text = { kind: 'password', email: email ?? '', isNew, asked, expiresAt } as const
  return { token, expiresAt, obstacle: await userMail.send({ to: email, text, link, expiresAt }, now) }
}

const RESET_MS = 60 * 60_000
const FIRST_PASSWORD_MS = 7 * 86_400_000
