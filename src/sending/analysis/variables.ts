import { cutText } from '../../mail/cut-text.ts'
import type { Mail, Rule } from './mail.ts'

/** Reports unfilled template variables of common languages, and words such as `undefined` for missing values. */
export const variables: Rule = (mail, report) => {
  for (const [field, text] of textsOf(mail)) {
    const unresolved = VARIABLE.exec(text)?.[0] ?? (field === 'link' ? undefined : PERCENT.exec(text)?.[0])
    const shownField = field === 'link' ? 'html' : field
    if (unresolved !== undefined) report('variables_unresolved', `: ${cutText(unresolved, 60)}`, shownField)
    const undefinedText = (field === 'link' ? UNDEFINED_IN_ADDRESS : UNDEFINED).exec(text)?.[0]
    if (undefinedText !== undefined) report('variables_undefined', `: "${undefinedText.trim()}"`, shownField)
  }
}

/** Start of a variable in any of them: a URL that contains one is not final. */
export const VARIABLE_BEGINS = /\{\{|\{%|\[\[|\*\||<%|\$\{/

// Liquid, Handlebars, Jinja, ERB, JavaScript, Mailchimp, Symfony and manual placeholders; all within one line.
const VARIABLE =
  /\{\{[^{}\n]{0,200}\}\}|\{%[^%{}\n]{0,200}%\}|\[\[[^[\]\n]{1,200}\]\]|\*\|[A-Z0-9_:]{1,60}\|\*|<%[^%<>\n]{0,200}%>|\$\{[A-Za-z_][\w.]{0,60}\}|\[(?:FIRST|LAST|FULL|YOUR|INSERT|CUSTOMER|COMPANY)[ _A-Z]{0,30}\]/
// Also Mailgun's variables of the recipient.
const PERCENT = /(?<![\w%])%(?:[A-Z][A-Z0-9_]{2,40}|recipient(?:[._]\w{1,60})?)%(?![\w%])/
// In German `null` is a number, so it counts only in the place of a name or a value.
const UNDEFINED =
  /\[object Object\]|(?:^|[\s,:>(])(?:undefined|NaN)(?=[\s,.!?<)]|$)|\b(?:Hi|Hello|Hey|Dear|Hallo|Lieber?|Bonjour|Hola|Ciao)\s(?:null|None|nil)\b|:\s?null(?=[\s,.!?<]|$)/
const UNDEFINED_IN_ADDRESS = /\[object%20Object\]|\[object Object\]|[/=](?:undefined|null|NaN)(?=[/?&#]|$)/

function textsOf({ input, page }: Mail): ['subject' | 'html' | 'text' | 'link', string][] {
  const texts: ['subject' | 'html' | 'text' | 'link', string][] = [['subject', input.subject]]
  if (page !== null) {
    texts.push(['html', page.visibleText], ['html', page.hiddenText])
    for (const { attributes } of page.tags) {
      for (const { name, value } of attributes) {
        if (ADDRESSES.has(name)) texts.push(['link', value])
        else if (SHOWN.has(name)) texts.push(['html', value])
      }
    }
  }
  if (input.text !== null) texts.push(['text', input.text])
  return texts
}

const ADDRESSES = new Set(['href', 'src'])
const SHOWN = new Set(['alt', 'title'])
