import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import type { TestHouse } from '../support/house.ts'
import { hasBrowser, LIMIT_MS, startDashboard, type TestDashboard } from './setup.ts'

/** Mail that wants to act, be it by what a parser makes of it the second time, or to keep the page busy. Requests to
 *  anywhere else and errors of scripts fail in `close`. */

const STEAL = 'parent.stolen=1'
const MUTANTS = [
  `<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=${STEAL}&gt;">`,
  `<svg></p><style><a id="</style><img src=1 onerror=${STEAL}>">`,
  `<noscript><p title="</noscript><img src=x onerror=${STEAL}>">`,
  `<template shadowrootmode="open"><img src=x onerror=${STEAL}></template>`,
  `<svg><foreignObject><iframe srcdoc="<script>${STEAL}</script>"></iframe></foreignObject></svg>`,
  `<svg><a xlink:href="javascript:${STEAL}"><text y="20">drawn</text></a></svg>`,
  `<mail-body data-mail-onload="${STEAL}"><img data-mail-onerror="${STEAL}" data-mail-style="background:url(https://evil.example/a)">`,
  `<select><style></select><img src=x onerror=${STEAL}></style></select>`,
  `<div style="background:u\\72l(https://evil.example/b)">escaped</div><div style="background:url(https://evil.example/c">open`,
  `<style>@im\\70ort "https://evil.example/d.css"; div{background:image-set("https://evil.example/e" 1x)}</style>`,
]
const LEADS = `<h2>Leads away</h2><map name="m"><area shape="rect" coords="0,0,90,90" href="https://evil.example/area" alt="area"></map>
  <img usemap="#m" width="90" height="90" alt="mapped" src="data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA=">
  <a href="https://evil.example/link" target="_top">a link</a>`
const many = (text: string, times: number) => text.repeat(times)
const BUSY = [
  `<h2>Tags</h2>${many('<a ', 200_000)}`,
  `<h2>Blanks</h2><p>src=${many(' ', 200_000)}</p>`,
  `<h2>Addresses</h2><div style="color:red;${many('url(', 100_000)}">x</div>`,
  `<h2>More blanks</h2><style>p{background:url(${many(' ', 200_000)}data:x)}</style>`,
]

describe.skipIf(!hasBrowser)('hostile mail', () => {
  let board: TestDashboard
  const ids: Record<string, string> = {}
  const furnish = async (house: TestHouse) => {
    const sandbox = { authorization: `Bearer ${house.keys.test}` }
    const send = async (subject: string, html: string) => {
      const { body } = await house.send({ to: 'x@customer.example', subject, html }, sandbox)
      ids[subject] = body.id
    }
    await send('mutants', `<h2>Mutants</h2>${MUTANTS.map((each) => `<div>${each}</div>`).join('\n')}`)
    await send('leads', LEADS)
    for (const [at, html] of BUSY.entries()) await send(`busy ${at}`, html)
  }
  beforeAll(async () => {
    board = await startDashboard(furnish)
  }, LIMIT_MS)
  afterAll(() => board?.close(), LIMIT_MS)

  const shown = async (name: string) => {
    // What our policy stops is told by the browser.
    const expected = /Content Security Policy|Blocked script/
    const page = await board.open(`/messages/${ids[name]}?tab=mail`, { expected })
    const mail = page.frameLocator('iframe.mail')
    await mail.getByRole('heading').first().waitFor()
    return { page, mail }
  }
  const isClean = async (page: Page) => {
    expect(await page.evaluate(() => 'stolen' in window)).toBe(false)
    const places = page.frames().map((frame) => new URL(frame.url()).pathname.replace(/msg_\w+/, 'msg'))
    expect(places).toEqual(['/dashboard/messages/msg', '/dashboard/preview'])
  }

  test(
    'what becomes something else when it is read again runs nothing and loads nothing',
    async () => {
      const { page } = await shown('mutants')
      await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))))
      await isClean(page)
    },
    LIMIT_MS,
  )

  test(
    'no way of clicking leads away',
    async () => {
      const { page, mail } = await shown('leads')
      await mail.getByAltText('mapped').click({ position: { x: 20, y: 20 } })
      await page.getByText('This link leads to https://evil.example/area').waitFor()
      const link = mail.getByRole('link', { name: 'a link' })
      for (const how of [{ button: 'middle' }, { modifiers: ['Control'] }, { modifiers: ['Shift'] }] as const) {
        await link.click({ ...how } as object)
      }
      await page.getByText('This link leads to https://evil.example/link').first().waitFor()
      expect(page.context().pages()).toHaveLength(1)
      await isClean(page)
    },
    LIMIT_MS,
  )

  for (const at of BUSY.keys()) {
    test(
      `is shown however it is made: ${/<h2>(.*?)</.exec(BUSY[at]!)![1]}`,
      async () => {
        const { page } = await shown(`busy ${at}`)
        await isClean(page)
      },
      LIMIT_MS,
    )
  }
})
