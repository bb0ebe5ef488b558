import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { invalid, Refusal } from '../../src/model/refusal.ts'
import { NO_SENDING_CONFIG } from '../../src/sending/submission/streams.ts'
import { parsingHere } from '../../src/server/parsing/parsing.ts'
import { analyzeOperations } from '../../src/web/api/routes/messages-analyze.ts'
import { createTestApi, type TestApi } from '../support/api.ts'
import { noRemoteAttachments } from '../support/api-assembly.ts'
import { expectCostUnder } from '../support/cpu-cost.ts'

let made: TestApi
let from: string

beforeAll(async () => {
  made = await createTestApi({
    bodyBytes: 4_000_000,
    operations: ({ store, clock }) =>
      analyzeOperations({
        ...parsingHere(),
        store,
        clock,
        remoteAttachments: noRemoteAttachments,
        config: { sending: NO_SENDING_CONFIG },
        submission: {
          render: async ({ organizationId }, { idOrAlias, variables: { name } }) => {
            if (organizationId !== made.own.organization.id || idOrAlias !== 'welcome')
              throw invalid([{ field: 'template_id', message: 'template_id does not match any template' }])
            if (name === undefined)
              throw new Refusal('template_error', 'name is missing', { details: { variable: 'name' } })
            return { subject: `Welcome, ${name}`, html: null, text: `Dear ${name}, the server of tea is open to you.` }
          },
        },
      }),
  })
  from = `Tea Server <orders@${made.own.domain.name}>`
})
afterAll(() => made.close())

const TEXT = 'Thank you for your order. Three teapots leave our server tomorrow morning.'
const ask = (body: object, key = made.own.keys.send) => made.ask('POST', '/v1/messages/analyze', { key, body })
const faultsOf = async (body: object) => {
  const answer = await ask(body)
  expect([answer.status, answer.body.error.code]).toEqual([400, 'validation_error'])
  return answer.body.error.errors.map(({ field }: { field: string }) => field)
}

describe('an analysis', () => {
  test('expects an unsubscribe link where the stream or the message has one, and reports a dead one', async () => {
    const codesOf = async (fields: object) => {
      const { body } = await ask({ from, subject: 'Your order', text: 'Stop: %unsubscribe_url%', ...fields })
      return body.issues.map(({ code }: { code: string }) => code)
    }
    expect(await codesOf({})).toContain('unsubscribe_link_dead')
    expect(await codesOf({ stream: 'bulk', unsubscribe: false })).toContain('unsubscribe_link_dead')
    for (const fields of [{ stream: 'bulk' }, { unsubscribe: true }])
      expect(await codesOf(fields)).not.toContain('unsubscribe_link_dead')
    expect(await faultsOf({ from, text: 'Hi', stream: 'unknown' })).toEqual(['stream'])
  })

  test('returns score, issues, links, figures and what will be sent', async () => {
    const { name } = made.own.domain
    const html = `<!doctype html><p>${TEXT}</p><p><a href="http://${name}/1">Your order</a></p></div>`
    const { status, body } = await ask({ from, subject: 'Your order has left', html })
    expect(status).toBe(200)
    expect(Object.keys(body)).toEqual(['score', 'verdict', 'issues', 'stats', 'links', 'rendered'])
    expect(body.rendered).toEqual({
      subject: 'Your order has left',
      html,
      text: `${TEXT}\n\nYour order (http://${name}/1)`,
    })
    expect(body.links).toEqual([{ url: `http://${name}/1`, text: 'Your order', problems: ['link_insecure'] }])
    expect(body.stats).toEqual({
      size_bytes: expect.any(Number),
      subject_characters: 19,
      html_bytes: html.length,
      text_bytes: body.rendered.text.length,
      words: 14,
      links: 1,
      images: 0,
      remote_images: 0,
      attachments: 0,
      image_text_ratio: 0,
    })
    expect(body.stats.size_bytes).toBeGreaterThan(html.length + body.rendered.text.length)
    expect(body.issues).toContainEqual({
      code: 'html_stray_close',
      severity: 'warning',
      category: 'html',
      message: expect.stringContaining('</div> in line 1'),
      field: 'html',
      penalty: 3,
    })
  })

  test('uses the last DNS check of the mail’s domain', async () => {
    const codes = async () => {
      const { body } = await ask({ from, subject: 'Your order has left', text: TEXT })
      return body.issues.map(({ code }: { code: string }) => code)
    }
    const { id, dkim, name, status, verifiedAt } = made.own.domain
    const finding = (found: 'valid' | 'missing') => ({
      purpose: 'dkim' as const,
      type: 'TXT' as const,
      name: `${dkim[0]?.selector}._domainkey.${name}`,
      status: found,
      found: [],
    })
    const checkedAt = made.clock.now()
    await made.store.domains.recordCheck(id, {
      status: 'failed',
      verifiedAt,
      checkedAt,
      findings: [finding('missing')],
    })
    expect(await codes()).toContain('auth_dkim_missing')
    await made.store.domains.recordCheck(id, {
      status: 'verified',
      verifiedAt,
      checkedAt,
      findings: [finding('valid')],
    })
    expect(await codes()).toEqual([])
    await made.store.domains.recordCheck(id, { status, verifiedAt, checkedAt, findings: [] })
  })

  test('accepts a mail with or without recipients, with every field of a send', async () => {
    const whole = {
      from,
      to: ['a@customer.example', 'b@customer.example'],
      cc: 'c@customer.example',
      reply_to: 'help@gmail.com',
      subject: 'Your order has left',
      text: TEXT,
      headers: { 'X-Priority': '1' },
      attachments: [{ filename: 'x.exe', content: 'aGk=' }],
      metadata: { order: 1 },
      tags: ['orders'],
      unsubscribe: true,
    }
    const { status, body } = await ask(whole)
    expect(status).toBe(200)
    const codes = body.issues.map(({ code }: { code: string }) => code)
    expect(codes).toContain('attachment_blocked')
    expect(codes).toContain('reply_to_free_mail')
    expect(codes).toContain('header_high_priority')
  })

  test('treats an empty part like a missing one', async () => {
    for (const body of [
      { html: '', text: TEXT },
      { html: `<p>${TEXT}</p>`, text: '' },
    ]) {
      const [empty, absent] = [body, Object.fromEntries(Object.entries(body).filter(([, part]) => part !== ''))]
      const subject = 'Your order has left'
      expect((await ask({ from, subject, ...empty })).body).toEqual((await ask({ from, subject, ...absent })).body)
    }
    expect(await faultsOf({ from, html: '', text: '' })).toEqual(['html'])
  })

  test('accepts a mail without a subject', async () => {
    for (const subject of ['', null, undefined]) {
      const { status, body } = await ask({ from, text: TEXT, subject })
      expect(status).toBe(200)
      expect(body.issues).toContainEqual(expect.objectContaining({ code: 'subject_missing', field: 'subject' }))
      expect(body.rendered.subject).toBe('')
    }
  })

  test('checks the rendered template', async () => {
    const { status, body } = await ask({ from, template_id: 'welcome', variables: { name: 'Ann' } })
    expect(status).toBe(200)
    expect(body.rendered).toEqual({
      subject: 'Welcome, Ann',
      html: null,
      text: 'Dear Ann, the server of tea is open to you.',
    })
    const own = await ask({ from, template_id: 'welcome', variables: { name: 'Ann' }, subject: 'Own subject' })
    expect(own.body.rendered.subject).toBe('Own subject')
  })
})

describe('an analysis refuses', () => {
  test('a body that a send refuses, with every fault at once', async () => {
    expect(await faultsOf({ from, subject: 'x', text: TEXT, htlm: 'x' })).toEqual(['htlm'])
    expect(await faultsOf({ subject: 'a\nb', html: ' ', to: 'nobody' })).toEqual(['from', 'to', 'subject', 'html'])
    expect(await faultsOf({ from, subject: 'x' })).toEqual(['html'])
    expect(await faultsOf({ from: 'x', subject: 'x' })).toEqual(['from', 'html'])
    expect(await faultsOf({ from, html: 'x', template_id: 'welcome' })).toEqual(['template_id'])
    expect(await faultsOf({ from, text: 'x', variables: {} })).toEqual(['variables'])
    const to = Array.from({ length: 51 }, (_, index) => `a${index}@customer.example`)
    expect(await faultsOf({ from, to, subject: 'x', text: TEXT })).toEqual(['to'])
  })

  test('a sender outside the domain of the key', async () => {
    for (const stranger of [`a@${made.other.domain.name}`, `a@sub.${made.own.domain.name}`]) {
      const { status, body } = await ask({ from: stranger, subject: 'x', text: TEXT })
      expect([status, body.error.code, body.error.field]).toEqual([403, 'forbidden', 'from'])
    }
  })

  test('a key that may not send', async () => {
    const { status } = await ask({ from, subject: 'x', text: TEXT }, made.own.keys.read)
    expect(status).toBe(403)
  })

  test('an unknown template, and one that lacks a variable', async () => {
    expect((await ask({ from, template_id: 'other' })).status).toBe(400)
    const { status, body } = await ask({ from, template_id: 'welcome' })
    expect([status, body.error.code, body.error.details.variable]).toEqual([422, 'template_error', 'name'])
  })
})

test('hostile HTML gets an answer', async () => {
  for (const html of ['<div>'.repeat(100_000), `<a href="https://a.example/${'x'.repeat(1_000_000)}">x</a>`]) {
    const answered = async () => expect((await ask({ from, subject: 'Your order', html })).status).toBe(200)
    await expectCostUnder(3_000, answered, 1) // a parser with quadratic running time takes minutes
  }
})
