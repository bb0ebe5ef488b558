import type { User } from '../model/user.ts'
import { pass, type Verdict, warn } from './check.ts'

const MOST_SHOWN = 5

/** Names the users whose rights wait for a verified address. */
export function checkUsers(waiting: readonly Pick<User, 'id' | 'email'>[]): Verdict {
  if (waiting.length === 0) return pass('nobody waits for rights')
  const shown = waiting.slice(0, MOST_SHOWN).map(({ id, email }) => email ?? id)
  const more = waiting.length > shown.length ? ` and ${waiting.length - shown.length} more` : ''
  return warn(
    `rights of ${shown.join(', ')}${more} wait, because nobody has verified the address`,
    'Ask who made these accounts. Run postrider user reset EMAIL, and give the link to the person; or remove the user.',
  )
}
