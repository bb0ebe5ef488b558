import { describe, expect, test } from 'bun:test'
import { Refusal } from '../../model/refusal.ts'
import { fillTemplate, parseNewTexts, parseTemplateTexts } from './render.ts'

function formatted(format: string, date: unknown, zone = ''): string | null {
  const zoned = zone === '' ? '' : `, "${zone}"`
  const texts = { subject: null, html: null, text: `{{ date | date: format${zoned} }}` }
  return fillTemplate(parseTemplateTexts(texts), { date, format }).text
}

function savedFault(html: string): { message: string; details: unknown } {
  try {
    parseNewTexts({ subject: null, html, text: null }, 'message', '')
  } catch (error) {
    if (error instanceof Refusal) return { message: error.message, details: error.details }
    throw error
  }
  throw new Error('no fault')
}

describe('date', () => {
  /** As Ruby 3 prints them. */
  test.each([
    ['%a|%A|%b|%B|%h', 'Sat|Saturday|Nov|November|Nov'],
    ['%c|%D|%F|%x|%X', 'Sat Nov 21 00:05:09 2026|11/21/26|2026-11-21|11/21/26|00:05:09'],
    ['%C|%y|%Y|%G|%g|%V', '20|26|2026|2026|26|47'],
    ['%d|%e|%j|%m|%u|%w|%U|%W', '21|21|325|11|6|6|46|46'],
    ['%H|%I|%k|%l|%M|%S|%s', '00|12| 0|12|05|09|1795219509'],
    ['%L|%N|%3N|%6N|%12N', '078|078000000|078|078000|078000000000'],
    ['%p|%P|%r|%R|%T|%v', 'AM|am|12:05:09 AM|00:05|00:05:09|21-NOV-2026'],
    ['%z|%:z|%::z|%Z|%%', '+0000|+00:00|+00:00:00|UTC|%'],
    ['%-m|%-d|%-H|%_H|%-I|%_5S', '11|21|0| 0|12|    9'],
    ['%^a|%^10a|%#p|%#a|%10Y|%012F', 'SAT|       SAT|am|SAT|0000002026|002026-11-21'],
    ['%Ey|%Od|%EY|%+', '26|21|2026|Sat Nov 21 00:05:09 UTC 2026'],
    ['%-d%q|%n|%t', '21st|\n|\t'],
  ])('prints %p', (format, expected) => expect(formatted(format, '2026-11-21T00:05:09.078Z')).toBe(expected))

  test.each([
    ['2021-01-03', '2020-W53-7 01 00'],
    ['2019-12-30', '2020-W01-1 52 52'],
    ['2016-01-01', '2015-W53-5 00 00'],
    ['2027-01-01', '2026-W53-5 00 00'],
    ['2024-02-29', '2024-W09-4 08 09'],
    ['2020-12-31', '2020-W53-4 52 52'],
  ])('has %p in its ISO week: %p', (date, expected) => expect(formatted('%G-W%V-%u %U %W', date)).toBe(expected))

  test('uses the time zone with its summer time', () => {
    expect(formatted('%F %T %z %Z', '2026-01-21T03:00:00Z', 'America/New_York')).toBe('2026-01-20 22:00:00 -0500 EST')
    expect(formatted('%F %T %:z %Z', '2026-07-21T03:00:00Z', 'America/New_York')).toBe('2026-07-20 23:00:00 -04:00 EDT')
    expect(formatted('%R %Z', '2026-07-21T03:00:00Z', 'Asia/Kolkata')).toBe('08:30 GMT+5:30')
    expect(formatted('%R %Z', 0)).toBe('00:00 UTC')
  })

  test('leaves what is no date as it is', () => {
    expect(formatted('%F', 'tomorrow, perhaps')).toBe('tomorrow, perhaps')
    const texts = { subject: null, html: null, text: '[{{ a | date: "%F" }}]' }
    expect(fillTemplate(parseTemplateTexts(texts), { a: null }).text).toBe('[]')
  })
})

describe('a conversion that does not exist', () => {
  test.each([
    ['{{ a | date: "%Y-%f" }}', '%f'],
    ['{{ a | date: "100% %Y" }}', '% '],
    ['{{ a | date: "%Y%" }}', '%'],
    ['{% assign b = a | date: "%i" %}', '%i'],
    ['{% if a %}{% for b in a %}{{ b | date: "%K" | upcase }}{% endfor %}{% endif %}', '%K'],
    ['{% capture b %}{% echo a | date: "%E" %}{% endcapture %}', '%E'],
    ['{% case a %}{% when 1 %}{% else %}{% cycle "a", a %}{{ a | date: "%-Q" }}{% endcase %}', '%-Q'],
    ['{% liquid assign b = a | date: "%4J" %}', '%4J'],
    ['{% unless a %}{% else %}{% tablerow b in a %}{{ b | date: "%o" }}{% endtablerow %}{% endunless %}', '%o'],
  ])('is refused in %p when it is saved', (html, conversion) => {
    expect(savedFault(html).message).toContain(`date has no conversion ${conversion};`)
  })

  test('is refused with its position', () => {
    expect(savedFault('one\n  {{ a | date: "%f" }}').details).toEqual({ line: 2, column: 3 })
  })

  test('prints as it is written where it was saved before, or comes from a variable', () => {
    expect(() => parseTemplateTexts({ subject: null, html: '{{ a | date: "%f" }}', text: null })).not.toThrow()
    expect(formatted('%Y %f 100%', '2026-11-21')).toBe('2026 %f 100%')
  })

  test('is no fault of a text that does not use it', () => {
    const html = '{% comment %}{{ a | date: "%f" }}{% endcomment %}{% raw %}{{ a | date: "%f" }}{% endraw %}{{ "%f" }}'
    const known = parseNewTexts(
      { subject: null, html: `${html}{{ a | date: b }}{{ a | date }}`, text: null },
      'message',
      '',
    )
    expect(known.html?.variables).toEqual(['a', 'b'])
  })
})

test('a time zone that does not exist is refused when it is saved', () => {
  expect(savedFault('{{ a | date: "%F", "Mars/Olympus" }}').message).toContain('there is no time zone Mars/Olympus')
  expect(() =>
    parseNewTexts({ subject: null, html: '{{ a | date: "%F", "Europe/Berlin" }}', text: null }, 'message', ''),
  ).not.toThrow()
})
