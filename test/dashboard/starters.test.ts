import { expect, test } from 'bun:test'
import { analyze } from '../../src/sending/analysis/analyze.ts'
import { fillTemplate, parseTemplateTexts, variablesIn } from '../../src/sending/submission/render.ts'
import { STARTERS } from '../../src/web/dashboard/starters/starters.ts'

/** Starter templates: what the product's own analysis finds, and that sample and texts belong together. */

const READY = {
  status: 'verified' as const,
  findings: (['dkim', 'return_path', 'spf', 'dmarc'] as const).map((purpose) => ({
    purpose,
    status: 'valid' as const,
    found: purpose === 'dmarc' ? ['v=DMARC1; p=reject'] : [],
    name: `${purpose}.acme.example.org`,
  })),
}

test.each(STARTERS.map((starter) => [starter.alias, starter] as const))('%s scores at least 95', (_, starter) => {
  const { subject, html, text } = fillTemplate(parseTemplateTexts(starter), starter.sample)
  const { score, issues } = analyze({
    from: { name: 'Acme', local: 'hello', domain: 'acme.example.org' },
    replyTo: [],
    subject: subject!,
    html,
    text,
    headers: [],
    attachments: [],
    domain: READY,
    hasUnsubscribe: false,
    sizeBytes: Buffer.byteLength(`${html}${text}`),
  })
  expect([score >= 95, issues.filter(({ severity }) => severity === 'error')]).toEqual([true, []])
})

test.each(STARTERS.map((starter) => [starter.alias, starter] as const))('%s uses its whole sample', (_, starter) => {
  const names = variablesIn(parseTemplateTexts(starter)).map((name) => name.split('.')[0])
  expect(Object.keys(starter.sample).filter((name) => !names.includes(name))).toEqual([])
})

test.each(STARTERS.map((starter) => [starter.alias, starter] as const))(
  '%s has its links in the text too, and a language, a preview text and dark colours',
  (_, starter) => {
    const { html, text } = fillTemplate(parseTemplateTexts(starter), starter.sample)
    const links = [...html!.matchAll(/href="(?:mailto:)?([^"]+)"/g)].map(([, url]) => url!)
    expect(links.filter((url) => !text!.includes(url))).toEqual([])
    expect(html).toContain('<html lang="en"')
    expect(html).toContain('prefers-color-scheme: dark')
    expect(html).toMatch(/<div style="display: none;[^"]*">[^<]{20,150}<\/div>/)
    expect(html!.match(/<table(?! role="presentation")/g)).toBeNull()
    expect(`${html}${text}`).not.toContain('{{')
  },
)
