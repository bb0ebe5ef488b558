import type { Permission } from '../../model/api-key.ts'
import { ROLES, type Role } from '../../model/user.ts'

/** The right to call an operation. Every operation has one, and rights are written down nowhere else. rights.ts checks
 *  them: for requests before the body is read, for compatible APIs, tools of /mcp, SMTP logins and open invitations. The
 *  manual's pages `keys` and `users` have tables of them. test/api/walk.test.ts tests every operation with every kind of
 *  key, test/api/roles.test.ts with every role, and test/fuzz/rights.test.ts after random grants. An operation without one
 *  does not compile, and test/api/contract.test.ts lists them all.
 *
 *  For people, webhooks and inbound routes begin at `developer`, because their URLs often contain a secret. `owner` alone
 *  manages users and plans, and grants keys with `admin`, which can do both. */
export interface AccessRule {
  /** Of an API key. `admin` implies all others; the others imply nothing. `any`: every key has what it needs. No key may
   *  call an operation of the operator. */
  permission: Permission | 'any'
  /** The least role that may call it in a dashboard session, or whose user's keys may; roles before it in ROLES may too. */
  role: LeastRole
  testKey: TestKeyRule
  reach: Reach
  /** The operation creates, changes or revokes a key. The calling key must be able to grant all its rights
   *  (grants.ts). */
  grants?: true
}

/** `operator`: only operators of the installation, in a dashboard session or on the command line, who may call
 *  everything. */
export type LeastRole = Role | 'operator'

/** Access of a test key:
 *
 *  - `test_records`: reads, changes and creates test records only. Requests for live records get 404, and
 *    lists and sums omit them.
 *  - `no_records`: same access as a live key, because the operation uses no records with a mode.
 *  - `refused`: 403, because the operation affects live mail. */
export type TestKeyRule = 'test_records' | 'no_records' | 'refused'

/** Access of a key without `admin`. Requests for other records of the organization get 403, and lists omit
 *  them.
 *
 *  - `own_domain`: records of its own domain.
 *  - `own_or_shared`: also records of the whole organization. Changing those requires `admin`, unless the organization
 *    has no other domain.
 *  - `organization`: the operation's records belong to no domain, so a key can access all of them. */
export type Reach = 'own_domain' | 'own_or_shared' | 'organization'

/** In the order in which rights.ts checks them. */
export function rule(
  permission: AccessRule['permission'],
  role: LeastRole,
  testKey: TestKeyRule,
  reach: Reach,
): AccessRule {
  return { permission, role, testKey, reach }
}

/** Of operations that create, change or revoke a key. */
export const GRANT: AccessRule = { ...rule('manage', 'developer', 'test_records', 'own_domain'), grants: true }
/** Of operations of the operator. */
export const OPERATOR = rule('admin', 'operator', 'refused', 'organization')
/** Of sending one message, over HTTP and SMTP. */
export const SEND = rule('send', 'developer', 'test_records', 'own_domain')
/** Of inviting people, and of an invitation as long as it is open. */
export const INVITE = rule('admin', 'owner', 'refused', 'organization')

/** True if a role has the rights of another one. */
export function includes(held: LeastRole, least: LeastRole): boolean {
  return held === 'operator' || (least !== 'operator' && ROLES.indexOf(held) <= ROLES.indexOf(least))
}

/** Access rule → sentences that describe it, in CommonMark, for the description of an operation. */
export function accessWords({ permission, role, testKey, reach, grants }: AccessRule): string {
  if (role === 'operator') return 'Requires the `operator` of this server, signed in to the dashboard.'
  if (permission === 'any') return 'Requires a key with `any` permission.'
  const words = [`Requires the permission \`${permission}\`.`]
  if (testKey === 'refused') words.push('Test keys get 403.')
  if (testKey === 'test_records') words.push('Test keys can access test records only and get 404 for live ones.')
  if (permission !== 'admin' && reach !== 'organization')
    words.push('Without `admin`, a key can access its own domain only.')
  if (grants) words.push('The key must be able to grant every permission of the affected key.')
  return words.join(' ')
}
