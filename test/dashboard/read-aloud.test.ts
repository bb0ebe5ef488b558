import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { until } from '../support/patience.ts'
import { describeWithBrowser, startDashboard, type TestDashboard } from './setup.ts'

/** Tasks as a screen reader tells them: by the accessibility tree of Chromium, in its order. */

describeWithBrowser('in the accessibility tree, a user', () => {
  let board: TestDashboard
  let id: string
  beforeAll(async () => {
    board = await startDashboard(async (server) => {
      const { body } = await server.send({ to: 'nobody@one.remote.example', subject: 'Welcome aboard' })
      id = body.id
      await server.ended(id)
      await server.send({ to: 'ann@one.remote.example', subject: 'Your receipt' })
    })
  })
  afterEach(() => board?.closePages())
  afterAll(() => board?.close())

  test('finds a bounce and its cause', async () => {
    const page = await board.open('/messages?status=bounced')
    await heard(page, 'link Welcome aboard')
    const list = await spoken(page)
    expect(inOrder(list, ['heading Messages', 'table Messages', 'columnheader Status', 'link Welcome aboard'])).toBe(
      true,
    )
    expect(list.filter((each) => each === 'StaticText Mailbox does not exist')).toHaveLength(1)
    expect(list).not.toContain('link Your receipt')
    await page.keyboard.press('j')
    await page.keyboard.press('Enter')
    await heard(page, 'heading Welcome aboard')
    await heard(page, 'region What happened to nobody@one.remote.example')
    await heard(page, 'button Remove suppression…')
    const told = await spoken(page)
    expect(
      inOrder(told, [
        'heading Welcome aboard',
        'StaticText Bounced',
        'StaticText nobody@one.remote.example · Mailbox does not exist',
        'region What happened to nobody@one.remote.example',
        'button Remove suppression…',
        'list Timeline of nobody@one.remote.example',
      ]),
    ).toBe(true)
  })

  test('removes a suppression, with the question and the result spoken', async () => {
    const page = await board.open(`/messages/${id}`)
    await heard(page, 'button Remove suppression…')
    await page.getByRole('button', { name: 'Remove suppression…' }).focus()
    await page.keyboard.press('Enter')
    await heard(page, 'dialog Remove the suppression of nobody@one.remote.example?')
    const asked = await spoken(page)
    expect(asked.find((each) => each.includes('will probably bounce too'))).toBeDefined()
    expect(inOrder(asked, ['button Cancel', 'button Remove suppression'])).toBe(true)
    expect(asked).not.toContain('button Resend') // what is behind the question is out of reach
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await heard(page, 'StaticText Suppression of nobody@one.remote.example removed')
    const done = await spoken(page)
    expect(
      inOrder(done, ['status ', 'StaticText Suppression of nobody@one.remote.example removed', 'button Undo']),
    ).toBe(true)
    await heard(page, 'StaticText The address is no longer suppressed. A new message to it would be tried.')
    expect(await spoken(page)).not.toContain('button Remove suppression…')
  })
})

/** Role and name of every node that assistive technology gets, in reading order. */
async function spoken(page: Page): Promise<string[]> {
  const session = await page.context().newCDPSession(page)
  const { nodes } = await session.send('Accessibility.getFullAXTree')
  await session.detach()
  const byId = new Map(nodes.map((node) => [node.nodeId, node]))
  const read = (node: (typeof nodes)[number] | undefined): string[] => {
    if (node === undefined) return []
    const below = (node.childIds ?? []).flatMap((id) => read(byId.get(id)))
    return node.ignored ? below : [`${node.role?.value} ${node.name?.value ?? ''}`, ...below]
  }
  return read(nodes[0])
}

const heard = (page: Page, what: string) => until(what, async () => (await spoken(page)).includes(what))

function inOrder(all: string[], wanted: string[]): boolean {
  let at = -1
  return wanted.every((each) => {
    at = all.indexOf(each, at + 1)
    return at >= 0
  })
}
