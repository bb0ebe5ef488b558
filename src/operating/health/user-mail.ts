import type { Domain } from '../../model/domain.ts'
import { pass, skip, type Verdict, warn } from './check.ts'

/** Checks that mail to users can go: the domain of `users.mail_from` is one of this installation and verified. */
export async function checkUserMail({
  from,
  find,
  isReady,
}: {
  /** '' = none configured. */
  from: string
  /** The domain of a name, a verified one before others. */
  find: (name: string) => Promise<Domain | null>
  isReady: (domain: Domain) => boolean
}): Promise<Verdict> {
  if (from === '') return skip('users.mail_from is empty: links of invitations and passwords are shown, not sent')
  const name = from.slice(from.lastIndexOf('@') + 1).toLowerCase()
  const domain = await find(name)
  if (domain === null)
    return warn(
      `users.mail_from: ${name} is not a domain of this server`,
      `Add it with \`postrider domain add ${name}\`.`,
    )
  if (isReady(domain)) return pass(`invitations and password links are sent from ${from}`)
  return warn(
    `users.mail_from: ${name} is not verified, so links are shown, not sent`,
    `Run \`postrider dns check ${name}\`.`,
  )
}
