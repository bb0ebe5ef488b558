import type { User } from '../../model/user.ts'
import type { Store } from '../../storage/store.ts'
import { pass, type Verdict, warn } from './check.ts'

const MOST_SHOWN = 5
const MOST_READ = 1_000

/** Names users whose rights wait for a verified address, and users at addresses whose mail this server receives: they
 *  get no links by mail, because the organization of the domain could read them. `receives` returns whether it receives
 *  mail of a domain. */
export async function checkUsers(
  users: Pick<Store['users'], 'waiting' | 'list'>,
  receives: (domain: string) => Promise<boolean>,
): Promise<Verdict> {
  const waiting = await users.waiting()
  if (waiting.length > 0)
    return warn(
      `rights of ${shown(waiting)} wait, because nobody has verified the address`,
      'Ask who made these accounts. Run `postrider user reset EMAIL`, and give the link to the person; or remove the user.',
    )
  const { records } = await users.list(null, { limit: MOST_READ, after: null })
  const byDomain = Map.groupBy(records, ({ email }) => email?.slice(email.lastIndexOf('@') + 1) ?? '')
  const here: User[] = []
  for (const [domain, found] of byDomain) if (await receives(domain)) here.push(...found)
  if (here.length === 0) return pass('every address is verified, or has no rights beyond its organization')
  return warn(
    `this server receives the mail of ${shown(here)}, so that it sends them no links`,
    'Give these users addresses elsewhere, or use single sign-on.',
  )
}

function shown(users: readonly User[]): string {
  const names = users.slice(0, MOST_SHOWN).map(({ id, email }) => email ?? id)
  return `${names.join(', ')}${users.length > names.length ? ` and ${users.length - names.length} more` : ''}`
}
