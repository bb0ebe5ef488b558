import { expect } from 'bun:test'
import type { Page } from 'playwright-core'
import { STARTERS } from '../../src/web/dashboard/starters/starters.ts'
import { until } from '../support/patience.ts'
import { DOMAIN } from '../support/server.ts'
import { brokenWords } from './broken-words.ts'
import { editor, write } from './code-editor.ts'
import { axeFaults, describeJourneys, overflow, screenshot } from './setup.ts'

/** The template editor: writing, preview, sample, versions, starter templates. */

describeJourneys(({ board, server, journey, heading, press }) => {
  const subject = (page: Page) => page.locator('[data-subject]')
  const sampleOf = (page: Page) => editor(page, 'Sample').locator('.cm-line').allTextContents()

  journey('previews a template while it is written, and shows where it has an error', async () => {
    const page = await board().open('/templates', { expected: /400|422|409/ })
    await page.getByText('No templates yet').waitFor()
    expect(await axeFaults(page)).toEqual([])
    await page.getByRole('link', { name: 'Create template' }).first().click()
    await heading(page, 'New template')
    await page.getByRole('link', { name: /^Blank template/ }).click()
    await page.getByLabel('Name', { exact: true }).fill('Welcome')
    await page.getByLabel('Alias').fill('Not An Alias')
    await page.getByLabel('Subject').fill('Welcome, {{ user.name }}')
    await write(
      page,
      'HTML',
      '<h1>Hello {{ user.name }}</h1>\n<p>Your plan: {{ plan | default: "free" }}</p>\n{% if vip %}<b>VIP</b>',
    )
    await page.getByText(/^Line 3, column 1: /).waitFor()
    expect(await editor(page, 'HTML').getAttribute('aria-invalid')).toBe('true')
    expect(await page.locator('.cm-fault-line').textContent()).toBe('{% if vip %}<b>VIP</b>')
    expect(await axeFaults(page)).toEqual([])
    await press(page, 'Jump to line 3')
    expect(await page.evaluate(() => document.getSelection()?.toString())).toBe('{% if vip %}<b>VIP</b>')
    await page.keyboard.press('End')
    await page.keyboard.type('{% endif %}')
    const mail = page.frameLocator('iframe.mail')
    await mail.getByRole('heading', { name: 'Hello [user.name]' }).waitFor()
    await page.locator('.cm-fault-line').waitFor({ state: 'detached' })
    await mail.getByText('Your plan: free').waitFor()
    expect(await subject(page).textContent()).toBe('Welcome, [user.name]')

    await page.getByText('The sample has no value for user.name').waitFor()
    await press(page, 'Add to sample')
    await mail.getByRole('heading', { name: 'Hello name' }).waitFor()
    expect(await sampleOf(page)).toEqual(['{', '  "user": {', '    "name": "name"', '  }', '}'])
    await write(page, 'Sample', '{"user": {"name": "Ann <3"}, "vip": tru}')
    await page.getByText('This is not valid JSON.').waitFor()
    await page.getByRole('tab', { name: 'Sample (error)' }).waitFor()
    await write(page, 'Sample', '{"user": {"name": "Ann <3"}, "vip": true}')
    await mail.getByRole('heading', { name: 'Hello Ann <3' }).waitFor()
    await mail.getByText('VIP').waitFor()

    await page.getByRole('tab', { name: 'Plain text' }).first().click()
    await write(page, 'Plain text', '{% for item in items %}{{ item.name }};{% endfor %}')
    await page.getByText('The sample has no value for items').waitFor()
    await press(page, 'Add to sample')
    await editor(page, 'Sample').waitFor()
    await write(page, 'Sample', '{"user": {"name": "Ann <3"}, "items": [{"name": "Tea"}, {"name": "Milk"}]}')
    await page.getByRole('tab', { name: 'Plain text' }).last().click()
    await page.getByText('Tea;Milk;').waitFor()
    await page.getByRole('tab', { name: 'Preview' }).click()
    for (const width of [600, 390]) {
      await press(page, `${width} px`)
      const frame = page.locator('iframe.mail')
      expect([width, (await frame.boundingBox())!.width]).toEqual([width, Math.min(width, await innerWidth(frame))])
    }

    await press(page, 'Create template')
    await page.locator('.fault').waitFor()
    expect(await page.getByLabel('Alias').getAttribute('aria-invalid')).toBe('true')
    await page.getByLabel('Alias').fill('welcome')
    await page.keyboard.press('Control+s')
    await heading(page, 'Welcome')
    expect(page.url()).toContain('/templates/tpl_')
    await mail.getByRole('heading', { name: 'Hello Ann <3' }).waitFor()
    const { sample } = await server().read('/v1/templates/welcome')
    expect(sample).toEqual({ user: { name: 'Ann <3' }, items: [{ name: 'Tea' }, { name: 'Milk' }] })
    await screenshot(page, 'template-light')
  })

  journey('opens a valid template without an error, for every user', async () => {
    const page = await board().open('/templates')
    await page.getByRole('link', { name: 'Welcome' }).click()
    await page.frameLocator('iframe.mail').getByRole('heading', { name: 'Hello Ann <3' }).waitFor()
    expect(await page.locator('.editor .notice, .fault, .cm-fault-line').count()).toBe(0)
  })

  journey('shows how a mail client with a dark theme displays the message', async () => {
    const page = await board().open('/templates/new?start=receipt')
    const mail = page.frameLocator('iframe.mail')
    const ground = (colour: string) =>
      until(colour, () =>
        mail.locator('body').evaluate((body, colour) => getComputedStyle(body).backgroundColor === colour, colour),
      )
    await mail.getByText('Green tea, 250 g').waitFor()
    await ground('rgb(243, 244, 245)')
    await press(page, 'Dark')
    await ground('rgb(16, 18, 20)')
    await page.emulateMedia({ colorScheme: 'dark' })
    await ground('rgb(16, 18, 20)')
    await press(page, 'Light')
    await ground('rgb(243, 244, 245)')
  })

  journey('analyses a template, sends a test, and restores and compares earlier versions', async () => {
    const page = await board().open('/templates', { theme: 'dark' })
    await page.getByRole('link', { name: 'Welcome' }).click()
    await heading(page, 'Welcome')
    await page.getByRole('tab', { name: 'Analysis' }).click()
    await page.getByRole('heading', { name: 'of 100' }).waitFor()
    expect(await axeFaults(page)).toEqual([])
    await page.getByLabel('Subject').fill('Good morning')
    await press(page, 'Save')
    await page.getByText('Version 2', { exact: true }).waitFor()

    await press(page, 'Send test')
    const dialog = page.getByRole('dialog', { name: 'Send test' })
    expect(await axeFaults(page)).toEqual([])
    await dialog.getByLabel('To').fill('ann@one.remote.example')
    await dialog.getByRole('button', { name: 'Send', exact: true }).click()
    const link = await dialog.getByRole('link', { name: 'View message' }).getAttribute('href')
    const live = await server().ended(link!.split('/').at(-1)!)
    expect([live.mode, live.subject, live.from, live.status]).toEqual([
      'live',
      'Good morning',
      `hello@${DOMAIN}`,
      'delivered',
    ])
    await dialog.getByRole('button', { name: 'Close' }).click()
    await press(page, 'Send test')
    await dialog.getByRole('button', { name: 'Test', exact: true }).click()
    await dialog.getByLabel('To').fill('ann@customer.example')
    await dialog.getByRole('button', { name: 'Send', exact: true }).click()
    await dialog.getByRole('link', { name: 'View message' }).waitFor()
    expect((await server().read('/v1/messages?mode=test')).data).toHaveLength(1)
    await dialog.getByRole('button', { name: 'Close' }).click()

    await page.getByRole('tab', { name: 'Versions' }).click()
    await press(page, 'Load version 1')
    await page.getByText('Version 1 loaded').waitFor()
    expect(await page.getByLabel('Subject').inputValue()).toBe('Welcome, {{ user.name }}')
    await press(page, 'Save')
    await page.getByText('Version 3', { exact: true }).waitFor()
    await page.getByText('API usage').click()
    await page.getByText('"template_id": "welcome"').waitFor()
    expect(await axeFaults(page)).toEqual([])
    await screenshot(page, 'template-dark')
    await page.setViewportSize({ width: 360, height: 740 })
    expect(await overflow(page)).toEqual([])
    await screenshot(page, 'template-360-dark')
  })

  journey('writes a template from the gallery, saves it and compares versions by keyboard alone', async () => {
    const page = await board().open('/templates/new')
    const press = (...keys: string[]) =>
      keys.reduce((before, key) => before.then(() => page.keyboard.press(key)), Promise.resolve())
    const focused = () => page.evaluate(() => document.activeElement?.textContent ?? '')
    await page.getByRole('link', { name: /^Receipt/ }).waitFor()
    const receipt = page.getByRole('listitem').filter({ hasText: 'Receipt' })
    await receipt.frameLocator('iframe').getByText('Green tea, 250 g').waitFor()
    for (let n = 0; n < 20 && !(await focused()).startsWith('Receipt'); n++) await press('j')
    await press('Enter')
    const mail = page.frameLocator('iframe.mail')
    await mail.getByText('Green tea, 250 g').waitFor()
    await page.getByLabel('Subject').focus()
    await press('Control+a')
    await page.keyboard.type('Receipt {{ order.number }}')
    await press('Tab', 'ArrowRight', 'ArrowLeft') // the tabs of the body
    const html = editor(page, 'HTML')
    await html.waitFor()
    await press('Tab', 'Tab') // HTML or MJML, then the editor
    expect(await html.evaluate((each) => each === document.activeElement)).toBe(true)
    await press('Control+Home')
    await page.keyboard.type('<!-- ours -->')
    await press('Enter', 'Tab')
    await page.keyboard.type('<!-- indented -->')
    expect((await html.locator('.cm-line').nth(1).textContent())?.startsWith('  <!-- indented -->')).toBe(true)
    await press('Escape', 'Tab')
    expect(await html.evaluate((each) => each.contains(document.activeElement))).toBe(false)
    await press('Control+s')
    await heading(page, 'Receipt')
    await page.getByText('Version 1', { exact: true }).waitFor()
    const saved = await server().read('/v1/templates/receipt')
    expect([saved.subject, saved.html.split('\n')[0]]).toEqual(['Receipt {{ order.number }}', '<!-- ours -->'])
    expect(saved.sample).toEqual(STARTERS.find(({ alias }) => alias === 'receipt')!.sample)

    await page.getByLabel('Subject').focus()
    await press('End')
    await page.keyboard.type('!')
    await press('Control+s')
    await page.getByText('Version 2', { exact: true }).waitFor()
    await page.getByRole('tab', { name: 'Preview' }).focus()
    await press('ArrowRight', 'ArrowRight', 'ArrowRight')
    const compare = page.getByRole('button', { name: 'Compare version 1' })
    await compare.waitFor()
    await press('Tab', 'Tab', 'Tab')
    expect(await focused()).toBe('Compare version 1')
    await press('Enter')
    const dialog = page.getByRole('dialog', { name: 'Compare versions' })
    await dialog.locator('.cm-deletedChunk').waitFor()
    expect(await dialog.locator('.cm-deletedChunk').textContent()).toBe('Receipt {{ order.number }}')
    expect(await dialog.locator('.cm-changedLine').textContent()).toBe('Receipt {{ order.number }}!')
    expect(await axeFaults(page)).toEqual([])
    await screenshot(page, 'template-compare')
    await press('Escape')
    await dialog.waitFor({ state: 'detached' })
    expect(await focused()).toBe('Compare version 1')
  })

  journey('compares unsaved changes, and finds nothing to compare between equal texts', async () => {
    const page = await board().open('/templates', { width: 390, theme: 'dark' })
    await page.getByRole('link', { name: 'Receipt' }).click()
    await page.getByLabel('Subject').fill('Something else')
    await page.getByRole('tab', { name: 'Versions' }).click()
    await press(page, 'Compare version 2')
    const dialog = page.getByRole('dialog', { name: 'Compare versions' })
    await dialog.locator('.cm-changedLine', { hasText: 'Something else' }).waitFor()
    expect(await axeFaults(page)).toEqual([])
    expect([await overflow(page), await brokenWords(page)]).toEqual([[], []])
    await dialog.getByRole('combobox', { name: 'To' }).selectOption('2')
    await dialog.getByText('No differences').waitFor()
  })

  journey('shows who changed a template', async () => {
    const page = await board().open('/templates')
    await page.getByRole('link', { name: 'Receipt' }).click()
    await page.getByRole('tab', { name: 'Versions' }).click()
    await page.getByRole('link', { name: 'See who changed it' }).click()
    await heading(page, 'Settings')
    await page.getByRole('cell', { name: /created template Receipt$/ }).waitFor()
    expect(await page.getByRole('cell', { name: /template Welcome$/ }).count()).toBe(0)
    await press(page, 'Remove filter Changes of Receipt')
    await page.getByRole('cell', { name: /created template Welcome$/ }).waitFor()
  })

  journey('asks before leaving unsaved changes, keeps them over a reload, and deletes after confirmation', async () => {
    const page = await board().open('/templates', { expected: /409/ })
    await page.getByRole('row', { name: /Welcome/ }).waitFor()
    await page.getByRole('link', { name: 'Welcome' }).focus()
    await page.keyboard.press('Enter')
    await heading(page, 'Welcome')
    await page.getByLabel('Name', { exact: true }).fill('Greeting')
    const question = page.getByRole('dialog', { name: 'Leave without saving?' })
    await page.getByRole('link', { name: 'Domains' }).click()
    await question.getByRole('button', { name: 'Cancel' }).click()
    await page.goBack()
    await question.getByRole('button', { name: 'Cancel' }).click()
    expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('Greeting')
    page.once('dialog', (asked) => void asked.accept())
    await page.reload()
    await page.getByText('These are your unsaved changes from before.').waitFor()
    expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('Greeting')
    await press(page, 'Discard changes')
    expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('Welcome')
    await page.getByLabel('Name', { exact: true }).fill('Greeting')
    await page.getByLabel('Name', { exact: true }).focus()
    await page.keyboard.press('Escape') // out of the field
    await page.keyboard.press('Escape') // to the list
    await question.getByRole('button', { name: 'Leave' }).click()
    await heading(page, 'Templates')
    await page.getByRole('link', { name: 'Welcome' }).click()
    expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('Welcome')

    await page.goto(`${board().origin}/dashboard/templates/new?start=blank`)
    await page.getByLabel('Name', { exact: true }).fill('Another')
    await page.getByLabel('Alias').fill('welcome')
    await page.getByRole('tab', { name: 'Plain text' }).first().click()
    await write(page, 'Plain text', 'Hi')
    await press(page, 'Create template')
    await page.getByText('Another template already has the alias welcome.').waitFor()
    await page.getByLabel('Alias').fill('')
    await press(page, 'Create template')
    await heading(page, 'Another')
    await press(page, 'Delete template')
    await page.getByRole('dialog').getByRole('button', { name: 'Delete template' }).click()
    await heading(page, 'Templates')
    await page.getByRole('row', { name: /Welcome/ }).waitFor()
    expect(await page.getByRole('link', { name: 'Another' }).count()).toBe(0)
  })

  journey('keeps unsaved changes when the session ends', async () => {
    const page = await board().open('/templates', { expected: /401/ })
    await page.getByRole('link', { name: 'Welcome' }).click()
    await heading(page, 'Welcome')
    const { pathname } = new URL(page.url())
    await page.getByLabel('Subject').fill('Typed before')
    await page.frameLocator('iframe.mail').getByRole('heading').waitFor()
    const cookies = await page.context().cookies()
    await page.context().clearCookies()
    // Any request shows the end, also one of the page's own, which may have come before this one.
    await page.getByRole('button', { name: 'Save', exact: true }).evaluateAll(([save]: HTMLElement[]) => save?.click())
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    await page.context().addCookies(cookies)
    page.once('dialog', (asked) => void asked.accept())
    await page.goto(`${board().origin}${pathname}`)
    await page.getByText('These are your unsaved changes from before.').waitFor()
    expect(await page.getByLabel('Subject').inputValue()).toBe('Typed before')
    await press(page, 'Discard changes')
  })

  journey('opens the question before the next key, and the key that opened it does not answer it', async () => {
    const page = await board().open('/templates')
    await page.getByRole('link', { name: 'Welcome' }).click()
    await heading(page, 'Welcome')
    await page.getByLabel('Name', { exact: true }).fill('Greeting')
    const seen = await page.evaluate(async () => {
      const changed = () =>
        new Promise<string>((resolve) => {
          const watch = new MutationObserver(() => {
            watch.disconnect()
            resolve(`${document.querySelector('dialog[open]') !== null} ${document.activeElement?.textContent}`)
          })
          watch.observe(document.body, { childList: true, subtree: true })
        })
      const link = document.querySelector<HTMLElement>('nav a[href$="/domains"]')!
      link.focus()
      link.click()
      const asked = await changed()
      document.querySelector<HTMLElement>('dialog button')!.click()
      return [asked, await changed()]
    })
    expect(seen).toEqual(['true Cancel', 'false Domains'])

    const question = page.getByRole('dialog', { name: 'Leave without saving?' })
    for (const key of ['Enter', 'u', 'Escape']) {
      await page.getByRole('link', { name: 'Domains' }).focus()
      await page.keyboard.press(key)
      await question.waitFor()
      await page.keyboard.press('Escape')
      await question.waitFor({ state: 'detached' })
    }
    await page.keyboard.press('Escape')
    await question.getByRole('button', { name: 'Leave' }).press('Enter')
    await heading(page, 'Templates')
    await until('focus of the row', () => page.evaluate(() => document.activeElement?.textContent === 'Welcome'))
  })

  journey('loads the editor on the page of a template alone', async () => {
    const page = await board().blank()
    await page.goto(await board().link())
    const scripts: string[] = []
    page.on('response', (response) => {
      if (response.url().endsWith('.js')) scripts.push(response.url())
    })
    await page.locator('main h1').first().waitFor()
    await page.getByRole('link', { name: 'Templates', exact: true }).click()
    await page.getByRole('row', { name: /Welcome/ }).waitFor()
    const code = async (url: string) => (await (await fetch(url)).text()).includes('cm-editor')
    expect(await Promise.all(scripts.map(code))).not.toContain(true)
    await page.getByRole('link', { name: 'Welcome' }).click()
    await editor(page, 'HTML').waitFor()
    expect((await Promise.all(scripts.map(code))).filter((isEditor) => isEditor)).toHaveLength(1)
  })

  journey('writes MJML, shows where it has an error, and keeps it as the source', async () => {
    const page = await board().open('/templates/new', { expected: /400/ })
    await page.getByRole('link', { name: /^Blank template/ }).click()
    await page.getByLabel('Name', { exact: true }).fill('Shipped')
    await page.getByLabel('Subject').fill('Shipped')
    await page.getByLabel('Source', { exact: true }).selectOption('MJML')
    const mail = page.frameLocator('iframe.mail')
    await mail.getByText('Hello', { exact: true }).waitFor()
    expect(await axeFaults(page)).toEqual([])
    const document = (text: string) =>
      `<mjml><mj-body><mj-section><mj-column>\n${text}\n</mj-column></mj-section></mj-body></mjml>`
    await write(page, 'MJML', document('<mj-box>Order {{ id }}</mj-box>'))
    await page.getByText('Line 2: there is no element mj-box').waitFor()
    expect(await page.locator('.cm-fault-line').textContent()).toBe('<mj-box>Order {{ id }}</mj-box>')
    await write(page, 'MJML', document('<mj-text>Order {{ id }}</mj-text>'))
    await mail.getByText('Order [id]').waitFor()
    await press(page, 'Create template')
    await page.getByText('Version 1', { exact: true }).waitFor()

    await page.reload()
    await write(page, 'MJML', document('<mj-text>Parcel {{ id }}</mj-text>'))
    await mail.getByText('Parcel [id]').waitFor()
    await press(page, 'Save')
    await page.getByText('Version 2', { exact: true }).waitFor()
    await page.getByRole('tab', { name: 'Versions' }).click()
    await page.getByRole('button', { name: 'Compare version 1' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('Order {{ id }}').waitFor()
    expect(await dialog.getByRole('heading', { level: 3 }).allTextContents()).toEqual(['MJML'])
    await press(page, 'Close')
    await page.getByLabel('Source', { exact: true }).selectOption('HTML')
    await editor(page, 'HTML').getByText('<!doctype html>').waitFor()
  })
})

/** Width of the frame's container, in pixels. */
const innerWidth = (frame: ReturnType<Page['locator']>) =>
  frame.evaluate((each) => each.parentElement!.getBoundingClientRect().width)
