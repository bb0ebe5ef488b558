import { type Invitation, MAX_INVITATIONS } from '../../model/invitation.ts'
import { grantsOf, NO_GRANTS } from '../../model/user.ts'
import { lockOrganization } from '../inside.ts'
import { rangeOf, toPage } from '../page.ts'
import { type Database, row, run, sql } from '../sql.ts'
import type { Invitations } from '../store.ts'
import { addUser, endSessionsIfMore, isFull, lockedUser } from './user-rows.ts'

const COLUMNS = `id, organization_id as "organizationId", email, role, invited_by as "invitedBy",
  created_at as "createdAt", expires_at as "expiresAt"`
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

export function invitationRecords(database: Database): Invitations {
  return {
    create: ({ id, organizationId, email, role, invitedBy, createdAt, expiresAt }, { shown, mailed }) =>
      database.write(function* () {
        yield* lockOrganization(organizationId)
        yield* run(REPLACE, organizationId, createdAt, email)
        if (((yield* row(COUNT, organizationId))?.count ?? 0) >= MAX_INVITATIONS) return 'too_many'
        yield* run(CREATE, id, shown, mailed, organizationId, email, role, invitedBy, createdAt, expiresAt)
        return 'created'
      }),
    get: (id) => database.row(GET, id),
    list: async (organizationId, now, page) =>
      toPage(await database.rows(LIST, organizationId, now, ...rangeOf(page)), page, (invitation) => invitation),
    remove: (id) => database.run(REMOVE, id),
    find: async (tokenHash, now) => {
      const found = await database.row(FIND, tokenHash, now)
      if (found === null) return null
      const { isProof, ...invitation } = found
      return { invitation, isProof }
    },
    accept: (tokenHash, user, passwordHash) =>
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
    join: (tokenHash, userId, now) =>
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
