import { afterEach, beforeEach, expect, test } from 'bun:test'
import { postrider, testFolder } from './command.ts'

let place: ReturnType<typeof testFolder>
beforeEach(() => {
  place = testFolder()
  place.writeConfig()
})
afterEach(() => place.remove())
const run = (...args: string[]) => postrider(...args, '--config', place.file)
const json = async (...args: string[]) => {
  const { stdout, stderr, code } = await run(...args, '--json')
  if (code !== 0) throw new Error(`exit code ${code}: ${stderr}`)
  return JSON.parse(stdout)
}

// threat: server-name-claimed
test('the server’s own name needs the operator’s consent, and a name with several claims is selected by id', async () => {
  await json('org', 'create', 'One', '--plan', 'enterprise')
  await json('org', 'create', 'Two')
  const refused = await run('domain', 'add', 'MAIL.example.com.', '--org', 'One')
  expect([refused.code, refused.stderr]).toEqual([
    1,
    expect.stringContaining('This host name belongs to the server itself'),
  ])
  const own = await json('domain', 'add', 'mail.example.com', '--org', 'One', '--server-name')
  expect(own).toMatchObject({ name: 'mail.example.com', status: 'pending' })

  const first = await json('domain', 'add', 'shop.example', '--org', 'One')
  expect((await json('domain', 'show', 'SHOP.example.')).id).toBe(first.id)
  const second = await json('domain', 'add', 'shop.example', '--org', 'Two')
  const unclear = await run('domain', 'show', 'shop.example')
  expect(unclear.code).toBe(1)
  for (const id of [first.id, second.id]) {
    expect(unclear.stderr).toContain(id)
    expect((await json('domain', 'show', id)).id).toBe(id)
  }
})

test('init of a name that another organization claims creates a separate domain, and does not mention the other', async () => {
  await json('org', 'create', 'Squatter', '--plan', 'free')
  const squatted = await json('domain', 'add', 'shop.example', '--org', 'Squatter')
  const made = await json('init', '--domain', 'shop.example', '--org', 'Shop', '--skip-checks')
  expect(made.domain_id).not.toBe(squatted.id)
  expect(made.organization_id).not.toBe(squatted.organization_id)
  expect(await json('init', '--domain', 'shop.example', '--org', 'Shop', '--skip-checks')).toMatchObject({
    changed: false,
    domain_id: made.domain_id,
  })
})

// threat: blocked-target
test('a click target is blocked, listed and unblocked', async () => {
  const made = await json('link', 'block', 'Phishing.Example', '--reason', 'reported')
  expect(made).toMatchObject({ kind: 'host', target: 'phishing.example', reason: 'reported' })
  expect((await json('link', 'list')).data).toEqual([made])
  expect((await run('link', 'block', 'phishing.example')).code).toBe(1)
  expect(await json('link', 'unblock', 'PHISHING.example')).toEqual({ id: made.id, deleted: true })
  expect((await run('link', 'unblock', 'phishing.example')).stderr).toContain('is not blocked')
  expect((await run('link', 'list')).stdout).toContain('no blocked links')
  const { data } = await json('audit')
  expect(data.map(({ action }: { action: string }) => action)).toContain('blocked_links_create')
})

test('the tracking of a domain is changed by name, and the domain is deleted', async () => {
  await json('org', 'create', 'One')
  await json('domain', 'add', 'shop.example')
  const changed = await json('domain', 'update', 'shop.example', '--opens', 'on', '--tracking-host', 'go.shop.example')
  expect(changed.tracking).toMatchObject({ opens: true, host: 'go.shop.example' })
  const back = await json('domain', 'update', 'shop.example', '--opens', 'off', '--tracking-host', '')
  expect(back.tracking).toMatchObject({ opens: false, host: null })
  expect(await run('domain', 'update', 'shop.example')).toMatchObject({ code: 2, stdout: '' })
  expect((await run('domain', 'delete', 'shop.example')).stdout).toBe('shop.example is deleted\n')
  expect((await run('domain', 'show', 'shop.example')).code).toBe(1)
})
