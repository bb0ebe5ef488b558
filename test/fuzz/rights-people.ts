import { ROLES } from '../../src/model/user.ts'
import type { Dice } from './dice.ts'
import { expectAnswer, nameOf } from './rights-answer.ts'
import {
  type Caller,
  isBound,
  isOperator,
  isValid,
  mayCall,
  mayManage,
  noteRoles,
  type Person,
  type Verdict,
} from './rights-model.ts'
import { addPerson, ask, change, person, send, type World } from './rights-world.ts'

/** Each function has somebody try a change of people, compares the answer with what the model says, and applies to the model what was
 *  done. It resolves with a line that says what was tried. */

export async function invite(world: World, by: Caller, dice: Dice): Promise<string> {
  const role = dice.pick(ROLES)
  const what = `${nameOf(by)} invites a ${role}`
  const may = mayCall(by, 'invitations_create', world.server.clock.now())
  const wanted = may === 'in' && by.kind === 'key' && (role === 'owner' || isBound(by)) ? 403 : may
  const body = { email: `${world.mintId('inv')}@people.example`, role }
  const answer = await ask(world, by, 'POST', '/v1/invitations', { body })
  if (expectAnswer(what, answer, wanted)) {
    const token = /#invitation=(\w+)$/.exec(answer.body.url ?? '')?.[1]
    if (token === undefined) return what // the link is not shown to everybody who invites
    world.invitations.push({ token, org: by.org, role, by: by.kind === 'key' ? by : { ...by } })
  }
  return what
}

/** The link was shown, so that the address is not verified. */
export async function accept(world: World, _: Caller, dice: Dice): Promise<string> {
  const now = world.server.clock.now()
  const may = ({ by }: World['invitations'][number]): Verdict => {
    // Neither the session nor the network counts any more, only whether its author may still invite.
    const author: Caller = by.kind === 'key' ? { ...by, networks: 'any' } : { ...by, isOver: false }
    return mayCall(author, 'invitations_create', now) === 'in' ? 'in' : 401
  }
  const refused = world.invitations.filter((each) => may(each) !== 'in')
  const invitation = (dice.chance(0.5) ? dice.maybe(refused) : null) ?? dice.maybe(world.invitations)
  if (invitation === null) return 'nothing to accept'
  const { token, org, role, by } = invitation
  const what = `a ${role} accepts what ${nameOf(by)} sent`
  const wanted = may(invitation)
  const body = { token, name: 'P', password: 'a long enough password' }
  const answer = await send(world.server, 'POST', '/session/invitation', { body, headers: { 'x-operator': '1' } })
  if (expectAnswer(what, answer, wanted)) {
    const roles = new Map([[org, role]])
    world.people.push(person(answer.body.id, { roles, isVerified: false, invitedTo: org }))
    world.invitations.splice(world.invitations.indexOf(invitation), 1)
  }
  await world.server.clock.advance(60_000) // attempts to sign in are limited
  return what
}

/** Mostly somebody who has made keys. */
function someone({ people, keys }: World, dice: Dice): Person {
  const makers = people.filter((each) => keys.some(({ limit }) => limit === each))
  return (dice.chance(0.6) ? dice.maybe(makers) : null) ?? dice.pick(people)
}

const isOwner = ({ roles, isVerified, invitedTo, isDisabled, isRemoved }: Person, org: string) =>
  roles.get(org) === 'owner' && !isDisabled && !isRemoved && (isVerified || invitedTo === org)
const isLastOwner = ({ people }: World, of: Person, org: string) =>
  of.roles.get(org) === 'owner' && !people.some((each) => each !== of && isOwner(each, org))

export async function setRole(world: World, by: Caller, dice: Dice): Promise<string> {
  const [of, role] = [someone(world, dice), dice.pick(ROLES)]
  const what = `${nameOf(by)} makes ${of.id} a ${role} of ${by.org}`
  let wanted: Verdict | 'conflict' = mayManage(by, 'users_update', of, world.server.clock.now())
  if (wanted === 'in' && by.kind === 'key' && role === 'owner') wanted = 403
  const leavesNone = role !== 'owner' && isLastOwner(world, of, by.org) && !isOperator(by)
  if (wanted === 'in' && leavesNone) wanted = 'conflict'
  const answer = await ask(world, by, 'PATCH', `/v1/users/${of.id}`, { body: { role } })
  if (!expectAnswer(what, answer, wanted)) return what
  const isFirst = isOperator(by) && !of.isVerified && by.org !== of.invitedTo && !of.roles.has(by.org)
  await change(world, of, () => of.roles.set(by.org, role), isFirst)
  return what
}

export async function remove(world: World, by: Caller, dice: Dice): Promise<string> {
  const [of, keeps] = [someone(world, dice), dice.chance(0.6)]
  const what = `${nameOf(by)} removes ${of.id} from ${by.org} and ${keeps ? 'keeps' : 'revokes'} the keys`
  const now = world.server.clock.now()
  let wanted: Verdict | 'conflict' = mayManage(by, 'users_delete', of, now)
  if (wanted === 'in' && isLastOwner(world, of, by.org) && !isOperator(by)) wanted = 'conflict'
  const answer = await ask(world, by, 'DELETE', `/v1/users/${of.id}?keys=${keeps ? 'keep' : 'revoke'}`)
  if (!expectAnswer(what, answer, wanted)) return what
  noteRoles(of, world.keys)
  await change(world, of, () => {
    of.roles.delete(by.org)
    of.isRemoved = !of.isOperator && of.roles.size === 0
  })
  for (const key of world.keys) {
    if (key.limit !== of || key.org !== by.org) continue
    if (keeps) key.limit = key.noted
    else if (isValid(key, now)) key.endedAt = now
  }
  return what
}

/** Disables or enables the account, or makes the person an operator or not. */
export async function changeAccount(world: World, by: Caller, dice: Dice): Promise<string> {
  const of = someone(world, dice)
  const body = dice.pick([{ disabled: true }, { disabled: false }, { is_operator: true }, { is_operator: false }])
  const what = `${nameOf(by)} sets ${JSON.stringify(body)} of ${of.id}`
  const may = mayManage(by, 'users_update', of, world.server.clock.now())
  const wanted = may === 'in' && !isOperator(by) ? 403 : may
  const answer = await ask(world, by, 'PATCH', `/v1/users/${of.id}`, { body })
  if (!expectAnswer(what, answer, wanted)) return what
  const isFirst = 'is_operator' in body && body.is_operator && !of.isOperator && !of.isVerified
  const loses = 'is_operator' in body && !body.is_operator && of.isOperator && of.isVerified
  await change(
    world,
    of,
    () => {
      if ('is_operator' in body) of.isOperator = body.is_operator === true
      else of.isDisabled = body.disabled === true
    },
    isFirst || loses,
  )
  return what
}

/** The person uses a link that came by mail. */
export async function verify(world: World, _: Caller, dice: Dice): Promise<string> {
  const of = dice.pick(world.people)
  if (of.isRemoved) return `${of.id} is gone`
  await world.server.store().users.verify(of.id, world.server.clock.now())
  await change(world, of, () => {
    of.isVerified = true
  })
  return `${of.id} proves the address`
}

/** The groups that the provider of single sign-on names at the next sign-in of a person, who has proved the address. */
export async function signOn(world: World, by: Caller, dice: Dice): Promise<string> {
  await verify(world, by, dice)
  const of = dice.pick(world.people.filter(({ isVerified }) => isVerified))
  if (of === undefined || of.isRemoved) return 'nobody signs on'
  const roles = new Map(world.orgs.filter(() => dice.chance(0.5)).map((org) => [org, dice.pick(ROLES)]))
  const isNext = dice.chance(0.2)
  const loses = of.isOperator && !isNext && !of.isDisabled
  await world.server.store().singleSignOn.setAccess(of.id, { isOperator: isNext, roles: Object.fromEntries(roles) })
  const hasNothing = !isNext && roles.size === 0
  await change(
    world,
    of,
    () => {
      of.roles = roles
      of.isOperator = isNext
    },
    loses || hasNothing,
  )
  return `${of.id} signs on as ${isNext ? 'operator, ' : ''}${JSON.stringify([...roles])}`
}

/** Somebody whom the operator adds. */
export async function add(world: World, _: Caller, dice: Dice): Promise<string> {
  const [org, role] = [dice.pick(world.orgs), dice.pick(ROLES)]
  await addPerson(world, org, role)
  return `${world.people.at(-1)?.id} is added as ${role} of ${org}`
}
