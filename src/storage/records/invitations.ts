import { type Invitation, MAX_INVITATIONS } from '../../model/invitation.ts'
import { grantsOf, NO_GRANTS, type User } from '../../model/user.ts'
import { type Page, type RecordsRequest, rangeOf, toPage } from '../page.ts'
import { type Database, row, run, sql } from '../sql.ts'
import { addUser, endSessionsIfMore, isFull, lockedUser } from './user-rows.ts'

interface InvitationLinks {
  /** Of the link that whoever invited sees. */
  shown: Uint8Array
  /** Of the link that only the address gets. */
  mailed: Uint8Array
}

const COLUMNS = `id, organization_id as "organizationId", email, role, invited_by as "invitedBy",
  created_at as "createdAt", expires_at as "expiresAt"`
// Until the transaction ends, no other one decides about the organization: the nodes of PostgreSQL add at the same time.
const LOCK_ORGANIZATION = sql<{ id: string }>('select id from organizations where id = $1 for no key update')
const REPLACE = sql('delete from invitations where organization_id = $1 and (expires_at <= $2 or email = $3)')
const COUNT = sql<{ count: number }>('select count(*) as count from invitations where organization_id = $1')
const CREATE = sql(`insert into invitations (id, token_hash, mailed_hash, organization_id, email, role, invited_by,
    created_at, expires_at)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`)
const GET = sql<Invitation>(`select ${COLUMNS} from invitations where id = $1`)
const LIST = sql<Invitation>(`select ${COLUMNS} from invitations where organization_id = $1 and expires_at > $2
    and id < $3 and created_at >= $4 and created_at < $5
  order by id desc limit $6`)
const REMOVE = sql('delete from invitations where id = $1')
const OF_LINK = 'from invitations where (token_hash = $1 or mailed_hash = $1) and expires_at > $2'
const FIND = sql<Invitation & { isProof: boolean }>(`select ${COLUMNS},
    coalesce(mailed_hash = $1, false)::boolean as "isProof"
  ${OF_LINK}`)
// Locked, so that of two uses at once the second one finds it deleted.
const LOCK = sql<Invitation>(`select ${COLUMNS} ${OF_LINK} for update`)
const ADD_ROLE = sql(`insert into user_roles (user_id, organization_id, role) values ($1, $2, $3)
  on conflict (user_id, organization_id) do update set role = excluded.role where user_roles.role <> 'owner'`)

/** Invitations to organizations. Tokens are passed as SHA-256. */
export function invitationRecords(database: Database) {
  return {
    /** Adds an invitation with two links, of which one can be used, and replaces an earlier one of the same address.
     *  `too_many` beyond MAX_INVITATIONS. */
    create: (
      { id, organizationId, email, role, invitedBy, createdAt, expiresAt }: Invitation,
      { shown, mailed }: InvitationLinks,
    ): Promise<'created' | 'too_many'> =>
      database.write(function* () {
        yield* row(LOCK_ORGANIZATION, organizationId)
        yield* run(REPLACE, organizationId, createdAt, email)
        if (((yield* row(COUNT, organizationId))?.count ?? 0) >= MAX_INVITATIONS) return 'too_many'
        yield* run(CREATE, id, shown, mailed, organizationId, email, role, invitedBy, createdAt, expiresAt)
        return 'created'
      }),
    get: (id: string): Promise<Invitation | null> => database.row(GET, id),
    /** Invitations that have not expired, newest first. */
    list: async (organizationId: string, now: number, page: RecordsRequest): Promise<Page<Invitation>> =>
      toPage(await database.rows(LIST, organizationId, now, ...rangeOf(page)), page, (invitation) => invitation),
    remove: (id: string): Promise<void> => database.run(REMOVE, id),
    /** `isProof`: it is the link that was sent. Null for a link that does not exist or has expired. */
    find: async (tokenHash: Uint8Array, now: number): Promise<{ invitation: Invitation; isProof: boolean } | null> => {
      const found = await database.row(FIND, tokenHash, now)
      if (found === null) return null
      const { isProof, ...invitation } = found
      return { invitation, isProof }
    },
    /** Uses the link, in one transaction: creates the user with the role. `unknown` if the link is not valid any more,
     *  `email_taken` if the account exists meanwhile, `too_many` beyond MAX_ROLES; then nothing changes. */
    accept: (
      tokenHash: Uint8Array,
      user: User,
      passwordHash: string,
    ): Promise<'accepted' | 'unknown' | 'email_taken' | 'too_many'> =>
      database.write(function* () {
        const invitation = yield* row(LOCK, tokenHash, user.createdAt)
        if (invitation === null) return 'unknown'
        const { id, organizationId, role } = invitation
        if (yield* isFull(NO_GRANTS, organizationId)) return 'too_many'
        const invited = { ...user, isOperator: false, roles: { [organizationId]: role }, awaiting: NO_GRANTS }
        if (!(yield* addUser(invited, passwordHash))) return 'email_taken'
        yield* run(REMOVE, id)
        return 'accepted'
      }),
    /** Uses the link for an existing user: adds the role, but never lowers `owner`. More rights than before end the user's
     *  sessions. `too_many` beyond MAX_ROLES. */
    join: (tokenHash: Uint8Array, userId: string, now: number): Promise<'accepted' | 'unknown' | 'too_many'> =>
      database.write(function* () {
        const before = yield* lockedUser(userId)
        const invitation = yield* row(LOCK, tokenHash, now)
        if (before === null || invitation === null) return 'unknown'
        const { id, organizationId, role } = invitation
        if (yield* isFull(grantsOf(before), organizationId)) return 'too_many'
        yield* run(ADD_ROLE, userId, organizationId, role)
        yield* run(REMOVE, id)
        yield* endSessionsIfMore(before)
        return 'accepted'
      }),
  }
}
