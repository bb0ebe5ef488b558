import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { createMintId } from '../../src/os/ids.ts'
import { systemRandom } from '../../src/os/random.ts'
import {
  axeFaults,
  chooseTheme,
  describeWithBrowser,
  overflow,
  screenshot,
  startDashboard,
  type TestDashboard,
} from './setup.ts'

/** Sign-in, and the layout of all pages. */

describeWithBrowser('the dashboard', () => {
  let board: TestDashboard
  beforeAll(async () => {
    board = await startDashboard()
  })
  afterEach(() => board?.closePages())
  afterAll(() => board?.close())

  test('signs in with a link that works once and disappears from the address', async () => {
    const link = await board.link()
    const page = await board.blank({ expected: /401/ })
    await page.goto(link)
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
    expect(page.url()).toBe(`${board.origin}/dashboard/`)
    await page.reload()
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()

    const other = await board.blank({ expected: /401/ })
    await other.goto(link)
    await other.getByRole('alert').waitFor()
    expect(await other.getByRole('alert').textContent()).toContain('This link has expired or was already used.')
    expect(await axeFaults(other)).toEqual([])
    await screenshot(other, 'sign-in')
  })

  test('shows the sign-in page for every path after signing out', async () => {
    const page = await board.open('/messages', { expected: /401/ })
    await page.getByRole('button', { name: 'Account' }).click()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    expect(await page.getByText('Your session ended').count()).toBe(0)
    await page.goto(`${board.origin}/dashboard/messages`)
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  })

  test('can be used by keyboard alone', async () => {
    const page = await board.open('/')
    await page.keyboard.press('Tab')
    expect(await page.locator(':focus').textContent()).toContain('Skip to content')
    await page.keyboard.press('Enter')
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('main')
    await page.keyboard.type('gm')
    await page.getByRole('heading', { level: 1, name: 'Messages' }).waitFor()
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('main')
    await page.keyboard.type('?')
    const help = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
    await help.waitFor()
    await page.keyboard.press('Escape')
    await help.waitFor({ state: 'detached' })
    await page.goBack()
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
  })

  test('shows the steps to the first message until one is delivered', async () => {
    const page = await board.open('/')
    const steps = page.getByRole('region', { name: 'Get started' })
    await steps.getByText('4 of 5 done').waitFor()
    expect(await steps.getByRole('listitem').last().textContent()).toContain('Send a message (to do)')
    // The next step has its control in it; a finished one is a line.
    expect(await steps.getByText('The domain of your From address.').count()).toBe(0)
    await steps.getByText('"from":"hello@sender.example"').waitFor()
    expect(await axeFaults(page)).toEqual([])
    await screenshot(page, 'get-started')
    await steps.getByRole('link', { name: 'Send a message' }).click()
    const form = page.getByRole('dialog', { name: 'New message' })
    await form.getByLabel('To', { exact: true }).waitFor()
    expect(await form.getByLabel('To', { exact: true }).evaluate((field) => field.matches(':focus'))).toBe(true)
    expect(await form.getByLabel('From').inputValue()).toBe('hello')
    expect(await form.getByLabel('Domain of the sender').inputValue()).toBe('sender.example')
    // Every field that is wrong says so at once, also after Ctrl+Enter in one of them.
    await form.getByLabel('Subject').fill('')
    await page.keyboard.press('Control+Enter')
    await form.locator('.fault').nth(1).waitFor()
    expect(await form.locator('[aria-invalid]').count()).toBe(2)
    expect(await form.getByLabel('To', { exact: true }).evaluate((field) => field.matches(':focus'))).toBe(true)
    await form.getByLabel('Subject').fill('Hello')
    await form.getByLabel('To', { exact: true }).fill('ann@one.remote.example')
    await form.getByLabel('From').fill('hello@elsewhere.example')
    await form.getByRole('button', { name: 'Send' }).click()
    await form.getByText('elsewhere.example is not a domain of this organization').waitFor()
    expect(await axeFaults(page)).toEqual([])
    await screenshot(page, 'new-message')
    await form.getByLabel('From').fill('Shop <hello@sender.example>')
    await form.getByRole('button', { name: 'Send' }).click()
    await page.getByRole('heading', { level: 1, name: 'Hello' }).waitFor()
    await page.locator('.head .chip', { hasText: 'delivered' }).waitFor()
    await page.keyboard.type('go')
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
    await page.locator('.plot canvas').last().waitFor()
    expect(await steps.count()).toBe(0)
  })

  test('remembers the theme and the mode', async () => {
    const page = await board.open('/')
    await chooseTheme(page, 'dark')
    await page.getByRole('button', { name: 'Test', exact: true }).click()
    await page.reload()
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
    expect(await page.evaluate(() => document.documentElement.dataset.theme)).toBe('dark')
    expect(await page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor)).toBe(
      'rgb(14, 15, 17)',
    )
    expect(await page.getByRole('button', { name: 'Test', exact: true }).getAttribute('aria-pressed')).toBe('true')
  })

  // threat: smuggled-ids-in-links
  test('ignores paths that a link hides in an id', async () => {
    const page = await board.open('/')
    const asked: string[] = []
    page.on('request', (request) => asked.push(new URL(request.url()).pathname))
    for (const path of ['/messages/..%2f..%2fsession', '/webhooks/%2e%2e%2fapi-keys', '/messages/%zz']) {
      await page.goto(`${board.origin}/dashboard${path}`)
      await page.getByRole('heading', { level: 1, name: 'Page not found' }).waitFor()
    }
    expect(asked).not.toContain('/v1/api-keys')
  })

  test('says that a record does not exist, and where the others are', async () => {
    const page = await board.open('/', { expected: /404/ })
    for (const [path, name, link] of [
      ['/messages/msg_', 'Message not found', 'All messages'],
      ['/domains/dom_', 'Domain not found', 'All domains'],
      ['/webhooks/whk_', 'Webhook not found', 'All webhooks'],
      ['/templates/tpl_', 'Template not found', 'All templates'],
      ['/inbound/inb_', 'Inbound message not found', 'All inbound messages'],
    ] as const) {
      await page.goto(`${board.origin}/dashboard${path}01m7ykx6js1zy8zpzy8z8cwhzy`)
      await page.getByRole('heading', { name, exact: true }).waitFor()
      await page.getByRole('link', { name: link }).waitFor()
      expect([path, await page.getByRole('heading', { level: 1 }).count()]).toEqual([path, 1])
    }
  })

  test('fits a phone screen, with the navigation behind a button', async () => {
    const page = await board.open('/', { width: 360, height: 740 })
    expect(await overflow(page)).toEqual([])
    const menu = page.getByRole('button', { name: 'Menu' })
    await menu.click()
    await screenshot(page, 'menu-360')
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Messages' }).click()
    await page.getByRole('heading', { level: 1, name: 'Messages' }).waitFor()
    expect(await menu.getAttribute('aria-expanded')).toBe('false')
  })

  test('closes the navigation of a phone screen by Escape and by a tap outside', async () => {
    const page = await board.open('/', { width: 390, height: 844 })
    const menu = page.getByRole('button', { name: 'Menu' })
    const link = page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Messages' })
    await menu.click()
    await link.waitFor()
    await page.keyboard.press('Escape')
    await link.waitFor({ state: 'hidden' })
    expect(await page.evaluate(() => document.activeElement?.getAttribute('aria-label'))).toBe('Menu')
    await menu.click()
    await link.waitFor()
    await page.mouse.click(370, 600)
    await link.waitFor({ state: 'hidden' })
    expect(await menu.getAttribute('aria-expanded')).toBe('false')
  })

  test('jumps to pages and records from the palette, by keyboard alone', async () => {
    const { body } = await board.server.send({ to: 'palette@one.remote.example', subject: 'From the palette' })
    const page = await board.open('/')
    const palette = page.getByRole('dialog', { name: 'Search and commands' })
    const choose = async (text: string, option: string) => {
      await page.keyboard.press('Control+k')
      await palette.waitFor()
      await page.keyboard.type(text)
      await palette.getByRole('option', { name: option, selected: true }).waitFor()
    }
    await choose('suppr', 'Suppressions')
    expect(await axeFaults(page)).toEqual([])
    // Its title is for screen readers alone, and takes no room above the field.
    const top = (element: Element) => element.getBoundingClientRect().top
    const field = await palette.locator('input').evaluate(top)
    expect(field - (await palette.evaluate(top))).toBeLessThan(20)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: 'Suppressions' }).waitFor()
    for (const text of [body.id, 'palette@one']) {
      await choose(text, text === body.id ? 'Open message' : 'From the palette')
      await page.keyboard.press('Enter')
      await page.getByRole('heading', { level: 1, name: 'From the palette' }).waitFor()
    }
    await choose('sender.ex', 'sender.example')
    await page.keyboard.press('Escape')
    await palette.waitFor({ state: 'detached' })
  })

  test('offers what creates something, settings, the manual and the last records in the palette', async () => {
    const [domain] = (await board.server.read('/v1/domains')).data
    const page = await board.open(`/domains/${domain.id}`)
    await page.getByRole('heading', { level: 1, name: domain.name }).waitFor()
    const palette = page.getByRole('dialog', { name: 'Search and commands' })
    const options = async (text: string, first: RegExp) => {
      await page.keyboard.press('Control+k')
      await page.keyboard.type(text)
      await palette.getByRole('option', { name: first }).first().waitFor()
      await page.keyboard.press('Escape')
      await palette.waitFor({ state: 'detached' })
    }
    await page.getByRole('link', { name: 'Messages', exact: true }).click()
    await options('', new RegExp(`^${domain.name} ?Recent`))
    await options('create key', /^Create API key/)
    await options('new template', /^New template/)
    await options('docs', /^Open the API reference/)
    await options('usage', /^Plan & usage/)
    await options('spf', /Manual/)
    await page.keyboard.press('Control+k')
    await page.keyboard.type('add domain')
    await palette.getByRole('option', { name: 'Add domain', selected: true }).waitFor()
    await page.keyboard.press('Enter')
    await page.getByRole('dialog', { name: 'Add domain' }).waitFor()
  })

  test('finds records by ID, Message-ID, part of an address and name, in the palette and in the list', async () => {
    const { server } = board
    const own = (await server.send({ to: 'anna.lena@one.remote.example', subject: 'By its address' })).body.id
    const { message_id_header: made } = await server.read(`/v1/messages/${own}`)
    const { body: template } = await server.ask('POST', '/v1/templates', { name: 'Order shipped', text: 'Hello' })
    await server.ask('POST', '/v1/suppressions', { email: 'carl@customer.example' })
    const [domain] = (await server.read('/v1/domains')).data
    const page = await board.open('/')
    const palette = page.getByRole('dialog', { name: 'Search and commands' })
    for (const [text, option, path] of [
      [own, 'Open message', `/messages/${own}`],
      [made, /^By its address.*\w+ · .+ · anna\.lena@one\.remote\.example$/, `/messages/${own}`],
      ['lena@one', 'By its address', `/messages/${own}`], // words of an address, the last one may be cut off
      ['anna.le', 'By its address', `/messages/${own}`],
      ['nder.exam', domain.name, `/domains/${domain.id}`],
      ['shipped', 'Order shipped', `/templates/${template.id}`],
      [template.id, 'Open template', `/templates/${template.id}`],
      ['carl@cust', 'carl@customer.example', '/suppressions?email=carl%40customer.example'],
    ] as const) {
      await page.keyboard.press('Control+k')
      await palette.waitFor()
      await page.keyboard.type(text)
      await palette.getByRole('option', { name: option }).first().click()
      await page.waitForURL(`${board.origin}/dashboard${path}`)
      await palette.waitFor({ state: 'detached' })
    }
    await page.goto(`${board.origin}/dashboard/messages`)
    for (const [text, subject] of [
      [made, 'By its address'],
      ['lena@one', 'By its address'],
    ] as const) {
      await page.getByRole('searchbox').fill(text)
      await page.keyboard.press('Enter')
      await page.waitForURL(/q=/)
      await page.locator('tbody tr').filter({ hasText: subject }).first().waitFor()
      await page.getByRole('button', { name: `Remove filter Search: ${text}` }).click()
      await page.waitForURL(/messages$/)
    }
    await page.getByRole('searchbox').fill(own)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: 'By its address' }).waitFor()
  })

  test('offers no undo for an organization that is not selected any more', async () => {
    const { server } = board
    const createdAt = server.clock.now() + 1
    const mintId = createMintId({ now: () => createdAt, sleep: async () => {} }, systemRandom)
    await server.store().organizations.create({ id: mintId('org'), name: 'Second', plan: 'free', createdAt })
    expect((await server.ask('POST', '/v1/suppressions', { email: 'left@c.example' })).status).toBe(201)
    const page = await board.open('/suppressions')
    await page.getByRole('button', { name: 'Actions of left@c.example' }).click()
    await page.getByRole('button', { name: 'Remove suppression', exact: true }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Remove suppression' }).click()
    const undo = page.getByRole('button', { name: 'Undo' })
    await undo.waitFor()
    await page.getByRole('combobox', { name: 'Organization' }).selectOption('Second')
    await page.getByRole('heading', { name: 'No suppressions' }).waitFor()
    expect(await undo.count()).toBe(0)
  })

  test('keeps the selected organization when there are more than 100', async () => {
    const { organizations } = board.server.store()
    const shop = (await organizations.list()).find(({ name }) => name === 'Shop')
    const at = board.server.clock.now() + 1
    const mintId = createMintId({ now: () => at, sleep: async () => {} }, systemRandom)
    const others = Array.from({ length: 101 }, (_, n) => ({
      id: mintId('org'),
      name: `Other ${n}`,
      plan: 'free',
      createdAt: at,
    }))
    await Promise.all(others.map((each) => organizations.create(each)))
    const page = await board.open('/')
    const choice = page.getByRole('combobox', { name: 'Organization' })
    expect(await choice.locator('option').count()).toBe(100)
    expect(await choice.locator('option', { hasText: 'Shop' }).count()).toBe(0)
    await page.evaluate((id) => localStorage.setItem('postrider.organization', id), shop!.id)
    await page.reload()
    await page.getByText('Live messages of Shop').waitFor()
    expect(await choice.inputValue()).toBe(shop!.id)
    const another = (await choice.locator('option').first().textContent())!
    await choice.selectOption(another)
    await page.getByText(`Live messages of ${another}`).waitFor()
  })
})
