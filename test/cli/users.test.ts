import { afterAll, beforeAll, expect, test } from 'bun:test'
import { FIRST_USER } from '../../src/model/user.ts'
import { testFolder } from './command.ts'
import { postriderInOneProcess } from './in-one-process.ts'

/** `postrider user`, on a store without a running server. */

const place = testFolder()
const postrider = postriderInOneProcess()
const run = (...args: string[]) => postrider(...args, '--config', place.file)
const json = async (...args: string[]) => JSON.parse((await run(...args, '--json')).stdout)

beforeAll(async () => {
  place.writeConfig()
  expect((await run('org', 'create', 'shop')).code).toBe(0)
})
afterAll(() => place.remove())

test('adds the operator’s address, adds users, changes their roles, and removes them', async () => {
  const operator = await json('user', 'add', 'Admin@example.com', '--operator')
  expect(operator).toMatchObject({ id: FIRST_USER, email: 'admin@example.com', is_operator: true })
  const ann = await json('user', 'add', 'ann@example.com', '--role', 'developer')
  expect(ann.reset.url).toMatch(/\/dashboard\/sign-in#reset=[0-9A-Za-z]{40}$/)
  expect((await json('user', 'list')).data.map(({ email }: { email: string }) => email)).toEqual([
    'ann@example.com',
    'admin@example.com',
  ])
  expect((await json('user', 'role', 'ann@example.com', 'owner')).roles[0].role).toBe('owner')
  expect(ann.reset).toMatchObject({ mail_queued: false, mail_reason: 'not_configured' })
  const reset = await run('user', 'reset', 'ann@example.com')
  expect(reset.stdout).toMatch(/#reset=[0-9A-Za-z]{40}\n$/)
  expect(reset.stderr).toContain('No mail is sent: users.mail_from is empty.')
  expect((await json('user', 'role', 'ann@example.com', 'none')).deleted).toBe(true)
  expect((await json('user', 'list')).data).toHaveLength(1)
})

test('keeps the last operator, and refuses an unknown user, role and a user without role', async () => {
  expect(await run('user', 'remove', FIRST_USER)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('last operator'),
  })
  expect((await run('user', 'reset', 'nobody@example.com')).stderr).toContain('no user nobody@example.com')
  expect((await run('user', 'role', FIRST_USER, 'boss')).code).toBe(2)
  expect((await run('user', 'add', 'bob@example.com')).code).toBe(2)
})
