import { describe, expect, test } from 'bun:test'
import { createFilling, parseText } from '../../../sending/submission/template-engine.ts'
import { type Language, translate } from './translate.ts'

/** Renders the translation with the real engine. */
function rendered(language: Language, text: string, variables: Record<string, unknown>, fallbacks = {}): string {
  const translated = translate(text, { language, isHtml: true, fallbacks })
  expect(translated.problems).toEqual([])
  return createFilling(variables)(parseText(translated.text, 'html'))
}

const SHOP = {
  name: '<Ann>',
  company: { name: 'Acme', site: null },
  items: [
    { title: 'Tea', tags: ['hot', 'green'] },
    { title: 'Cup', tags: [] },
  ],
  item: { list: 'own' },
  none: [],
  zero: 0,
  nothing: '',
  total: 12,
  at: '2026-11-25T10:05:00Z',
}

const STOP = '%unsubscribe_url%'

const same: [language: Language, text: string, result: string][] = [
  ['postmark', 'Hi {{ name }}, {{{name}}} {{&name}}', 'Hi &lt;Ann&gt;, <Ann> <Ann>'],
  ['postmark', 'Hi {{ missing }}{{! a comment }}!', 'Hi !'],
  ['postmark', '{{#company}}{{name}} for {{../name}}{{/company}}', 'Acme for &lt;Ann&gt;'],
  ['postmark', '{{#each items}}{{title}}{{#each tags}} {{.}}{{/each}};{{/each}}', 'Tea hot green;Cup;'],
  ['postmark', '{{#zero}}a{{/zero}}{{#nothing}}b{{/nothing}}{{#none}}c{{/none}}{{#gone}}d{{/gone}}', ''],
  ['postmark', '{{^zero}}a{{/zero}}{{^nothing}}b{{/nothing}}{{^none}}c{{/none}}{{^gone}}d{{/gone}}', 'abcd'],
  ['postmark', '{{^name}}a{{/name}}{{^company.site}}b{{/company.site}}', 'b'],
  ['postmark', '{{#each gone}}a{{/each}}{{#each company.gone}}b{{/each}}', ''],
  ['postmark', '<a href="{{{ pm:unsubscribe_url }}}">', '<a href="%unsubscribe_url%">'],
  ['postmark', '<a data-pm-no-track href="{{{total}}}">', '<a data-pm-no-track href="12">'],
  ['mailgun', 'Hi {{name}}, {{{name}}}{{gone}}', 'Hi &lt;Ann&gt;, <Ann>'],
  ['mailgun', '{{#if total}}a{{else}}b{{/if}}{{#unless zero}}c{{/unless}}{{#equal total 12}}d{{/equal}}', 'acd'],
  ['mailgun', '{{#each items}}{{this.title}}{{/each}}{{#with company}}{{name}}{{/with}}', 'TeaCupAcme'],
  ['mailgun', '<a href="%unsubscribe_url%">', '<a href="%unsubscribe_url%">'],
  ['ses', 'Hi {{name}} {{{name}}}{{#if none}}x{{else}}y{{/if}}', 'Hi &lt;Ann&gt; &lt;Ann&gt;y'],
  ['ses', '{{#each items}}{{title}}{{#each tags}} {{this}}{{/each}};{{/each}}', 'Tea hot green;Cup;'],
  ['ses', '<a href="{{amazonSESUnsubscribeUrl}}">', '<a href="%unsubscribe_url%">'],
  ['sendgrid', '<a clicktracking=off href="{{{total}}}">', '<a clicktracking=off href="12">'],
  ['postmark', 'a {% b %} {', 'a {% b %} {'],
  ['sendgrid', '{{#if name}}a{{else}}b{{/if}}{{#if gone}}c{{else if total}}d{{else}}e{{/if}}', 'ad'],
  ['sendgrid', '{{#unless nothing}}a{{/unless}}{{#unless name}}b{{/unless}}', 'a'],
  ['sendgrid', '{{#each items}}{{@index}}{{this.title}}{{#if @last}}.{{else}},{{/if}}{{else}}x{{/each}}', '0Tea,1Cup.'],
  ['sendgrid', '{{#each none}}a{{else}}nothing for {{name}}{{/each}}', 'nothing for &lt;Ann&gt;'],
  ['sendgrid', '{{#each items}}{{@root.company.name}} {{../total}} {{/each}}', 'Acme 12 Acme 12 '],
  ['sendgrid', '{{#each items}}{{title}} {{../item.list}} {{/each}}', 'Tea own Cup own '],
  ['sendgrid', '{{#each items}}{{#if tags}}{{title}}{{/if}}{{/each}}', 'Tea'],
  ['sendgrid', '{{#equals company.name "Acme"}}a{{else}}b{{/equals}}{{#notEquals total 12}}c{{/notEquals}}', 'a'],
  ['sendgrid', '{{#greaterThan total 10}}a{{/greaterThan}}{{#lessThan (length items) 2}}b{{/lessThan}}', 'a'],
  ['sendgrid', '{{#and name total}}a{{/and}}{{#and name gone}}b{{/and}}', 'a'],
  ['sendgrid', '{{insert gone "default=you"}} {{insert name "default=you"}}', 'you &lt;Ann&gt;'],
  ['sendgrid', '{{formatDate at "MMM DD, YYYY HH:mm"}}', 'Nov 25, 2026 10:05'],
  ['sendgrid', '{{#with company}}{{name}}{{/with}}', 'Acme'],
  ['sendgrid', '{{items.[0].title}} {{items.1.title}}', 'Tea Cup'],
  ['sendgrid', 'a {{~name~}} b', 'a&lt;Ann&gt;b'],
  [
    'sendgrid',
    '{{!-- {{name}} --}}<%asm_group_unsubscribe_raw_url%> {{{unsubscribe}}}',
    '%unsubscribe_url% %unsubscribe_url%',
  ],
  ['resend', 'Hi {{{name}}} {{{total}}} {{{gone|you}}}', 'Hi &lt;Ann&gt; 12 you'],
  ['sendgrid', '<a href="%3C%25asm_global_unsubscribe_raw_url%25%3E">', '<a href="%unsubscribe_url%">'],
  ['sendgrid', '&lt;%asm_group_unsubscribe_url%&gt; {{  unsubscribe  }} {{Unsubscribe}}', `${STOP} ${STOP} ${STOP}`],
  ['postmark', '{{pm:unsubscribe}} {{{pm:unsubscribe}}} {{{  pm:unsubscribe_url  }}}', `${STOP} ${STOP} ${STOP}`],
  ['resend', '{{{RESEND_UNSUBSCRIBE_URL}}}', '%unsubscribe_url%'],
  [
    'resend',
    '{{{  RESEND_UNSUBSCRIBE_URL  }}} {{{UNSUBSCRIBE_URL}}} {{{RESEND_UNSUBSCRIBE_URL|x}}}',
    `${STOP} ${STOP} ${STOP}`,
  ],
]
test.each(same)('%s renders %s the same', (language, text, result) => {
  expect(rendered(language, text, SHOP)).toBe(result)
})

test('a fallback of Resend becomes a default, and a variable without one is required', () => {
  expect(rendered('resend', '{{{A}}}{{{B}}}', {}, { A: 'x', B: 5 })).toBe('x5')
  expect(() => rendered('resend', '{{{A}}}', {})).toThrow()
})

test('the content of a layout is that of ours', () => {
  const { text } = translate('<b>{{{@content}}}</b>', { language: 'postmark', isHtml: true })
  expect(parseText(text, 'html').isFrame).toBe(true)
})

describe('reports', () => {
  const bad: [language: Language, text: string, line: number, message: RegExp][] = [
    ['sendgrid', 'a\n{{> footer}}', 2, /partial footer/],
    ['sendgrid', '{{#customHelper x}}{{/customHelper}}', 1, /helper customHelper has no equivalent/],
    ['sendgrid', '{{upper name}}', 1, /helper upper/],
    ['sendgrid', '{{#constructor a b}}{{/constructor}}', 1, /helper constructor/],
    ['sendgrid', '{{formatDate at "constructor"}}', 1, /formatDate/],
    ['sendgrid', '{{#or a b}}{{/or}}', 1, /helper or/],
    ['sendgrid', '{{#each map}}{{@key}}{{/each}}', 1, /@key/],
    ['sendgrid', '{{formatDate at format}}', 1, /formatDate/],
    ['sendgrid', '{{[first name]}}', 1, /not a name in Liquid/],
    ['sendgrid', '{{#if a}}\n', 1, /not closed/],
    ['sendgrid', '{{a]}}', 1, /helper a/],
    ['sendgrid', '{{a "b}}', 1, /helper a/],
    ['sendgrid', '{{/if}}', 1, /closes no open block/],
    ['sendgrid', '{{else}}', 1, /without a block/],
    ['postmark', '{{../x}}', 1, /leaves the template/],
    ['postmark', '{{.}}', 1, /all variables/],
    ['postmark', '{{empty}}', 1, /Rename/],
    ['sendgrid', 'a\n<a href="{{{unsubscribe_preferences}}}">', 2, /unsubscribe_preferences.*%unsubscribe_url%/],
    ['sendgrid', 'a\n\n<a href="<%asm_preferences_raw_url%>">', 3, /asm_preferences_raw_url%> has no/],
    ['sendgrid', '<a href="[Unsubscribe]">', 1, /\[Unsubscribe\] has no/],
    ['sendgrid', '{{{name}}}\n{{x\n}}<a href="[[UNSUB_LINK_EN]]">', 3, /UNSUB_LINK_EN/],
    ['postmark', '<a href="{{amazonSESUnsubscribeUrl}}">', 1, /amazonSESUnsubscribeUrl/],
    ['postmark', '<a href="*|UNSUB:https://x.example|*">', 1, /UNSUB/],
    ['postmark', '{{{ pm:preferences }}}', 1, /not a name/],
    ['resend', '{{{pm:unsubscribe}}}', 1, /pm:unsubscribe/],
    ['resend', '<a href="%tag_unsubscribe_url%">', 1, /tag_unsubscribe_url/],
    ['resend', 'a {{name}}', 1, /three braces/],
    ['resend', '{{{#if a}}}', 1, /not part of Resend/],
  ]
  test.each(bad)('%s: %j', (language, text, line, message) => {
    const [problem] = translate(text, { language, isHtml: true }).problems
    expect(problem).toEqual({ line, message: expect.stringMatching(message) })
  })

  test('each construct once, and not also its end', () => {
    const text = '{{#if a}}{{#or a b}}x{{/or}}{{> footer}}{{/if}}'
    const { problems } = translate(text, { language: 'sendgrid', isHtml: true })
    expect(problems.map(({ message }) => message)).toEqual([
      'the helper or has no equivalent',
      'the partial footer is not in the export',
    ])
  })

  test('any text without an exception, in linear time', () => {
    for (const piece of ['{{', '{{{', '{{!--', '{{#each a}}', '{{"', "{{('", '{{../', '{%', '\n']) {
      translate(piece.repeat(20_000), { language: 'sendgrid', isHtml: true })
    }
  })
})

describe('Mailgun and SES', () => {
  const problemsOf = (language: Language, text: string) =>
    translate(text, { language, isHtml: true }).problems.map(({ message }) => message)

  test('report what has no equivalent', () => {
    expect(problemsOf('mailgun', '{{> footer}} {{#or a b}}x{{/or}} {{.Name}}')).toHaveLength(3)
    expect(problemsOf('mailgun', '<a href="%tag_unsubscribe_url%">')).toHaveLength(1)
    expect(problemsOf('ses', '{{#*inline "footer"}}x{{/inline}}')).not.toEqual([])
    expect(problemsOf('ses', '{{#eq a b}}x{{/eq}}')).toHaveLength(1)
  })

  test('a missing variable of SES is refused, as SES does', () => {
    const { text } = translate('Hi {{gone}}', { language: 'ses', isHtml: true })
    expect(() => createFilling({})(parseText(text, 'html'))).toThrow()
  })
})
