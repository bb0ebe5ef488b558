import { type Command, Option } from 'commander'
import type { Template } from '../../client/types.ts'
import { TEMPLATE_KINDS } from '../../model/template.ts'
import { readVariables, type TemplateVariables } from '../given-files.ts'
import { addList, addOperation, type Given } from '../operation-command.ts'
import { gather, LOCALE, ORG, VARIABLES, whole, withRecords } from '../options.ts'
import * as places from '../places.ts'
import { sanitize } from '../print.ts'
import { withServer } from '../server-access.ts'

/** `postrider template …`. */
export function addTemplates(program: Command): void {
  const parent = program
    .command('template')
    .description('create, change and render templates from files')
    .addHelpText(
      'after',
      '\nFor React Email and the templates of other services: npx postrider-templates (manual: react-email)',
    )
  addList(parent, 'list', 'templates_list', {
    about: 'list templates, newest first',
    place: places.organization,
    placed: [ORG],
    query: { kind: kind('only templates of this kind') },
    columns: { id: 'id', alias: 'alias', kind: 'kind', version: 'version', name: 'name' },
    none: 'no templates yet',
  })
  addOperation(parent, 'show <template>', 'templates_get', {
    about: 'show a template, by id or alias',
    place: places.template,
    placed: [ORG],
    query: { version: VERSION },
    text: templateText,
  })
  addList(parent, 'versions <template>', 'templates_versions', {
    about: 'list the versions of a template, newest first',
    place: places.template,
    placed: [ORG],
    columns: {
      version: 'version',
      created: 'created_at',
      variables: ({ variables }) => variables.join(', ') || '-',
      subject: 'subject',
    },
    none: 'no versions',
  })
  addChanges(parent)
  addOperation(parent, 'delete <template>', 'templates_delete', {
    about: 'delete a template and all its versions',
    place: places.template,
    placed: [ORG],
    text: ({ id }, { operands: [name] }) => `deleted ${name} (${id})`,
  })
  addOperation(parent, 'render <template>', 'templates_render', {
    about: 'fill a template with variables and print it; nothing is sent',
    place: places.template,
    placed: [ORG],
    body: { version: VERSION, locale: LOCALE },
    others: VARIABLES,
    given: ({ options }: Given<TemplateVariables>) => ({ body: { variables: readVariables(options) } }),
    text: textsOf,
  })
}

/** The commands that take the texts from files (template.ts). */
function addChanges(parent: Command): void {
  const add = (words: string) => withServer(withRecords(parent.command(words)).addOption(ORG))
  const content = (command: Command) =>
    command
      .option('--alias <alias>', 'name to send it by; live templates have separate aliases')
      .option('--subject <text>', 'subject line')
      .option('--html-file <file>', 'HTML from a file')
      .addOption(new Option('--mjml-file <file>', 'MJML from a file, compiled to HTML').conflicts('htmlFile'))
      .option('--text-file <file>', 'plain text from a file')
      .option('--locale <locale>', 'subject and files are for this language, such as pt-BR')
      .option('--layout <alias>', 'layout around HTML and text')
      .option('--sample <file>', 'values for previews from a file with a JSON object')

  add('restore <template> <version>')
    .description('use an earlier version again, as a new version')
    .action(async (name, version, options) => (await import('../template.ts')).restoreVersion(name, version, options))
  content(add('create').requiredOption('--name <name>', 'name in lists'))
    .description('create a template, layout or partial')
    .addOption(kind('what it is for').default('message'))
    .action(async (options) => (await import('../template.ts')).createTemplate(options))
  content(add('update <template>').option('--name <name>', 'name in lists'))
    .description("change a template; an empty value ('') removes alias, subject, text or layout")
    .option('--remove-locale <locale>', 'remove this language; repeatable', gather)
    .action(async (name, options) => (await import('../template.ts')).updateTemplate(name, options))
}

const kind = (about: string) => new Option('--kind <kind>', about).choices(TEMPLATE_KINDS)
const VERSION = new Option('--version <number>', 'an earlier version').argParser((text) =>
  whole(text, 1, 999_999, 'version'),
)

/** The texts of a template in one language. */
export interface Texts {
  subject?: string | null | undefined
  html?: string | null | undefined
  mjml?: string | null | undefined
  text?: string | null | undefined
}

/** Texts as stored → as they are set: HTML that was compiled from MJML is not. */
export function sourceOf({ subject, html, mjml, text }: Texts): Texts {
  return { subject, text, ...(mjml == null ? { html } : { mjml }) }
}

function templateText(template: Template): string {
  const { id, alias, name, kind, layout, locales, variables, version, updated_at } = template
  const rows = [
    ['id', id],
    ['alias', alias ?? '-'],
    ['kind', kind],
    ['version', String(version)],
    ['layout', layout ?? '-'],
    ['languages', Object.keys(locales).join(', ') || '-'],
    ['variables', variables.join(', ') || '-'],
    ['updated', updated_at],
  ]
  const facts = rows.map(([head = '', value = '']) => `  ${head.padEnd(9)}  ${sanitize(value)}`)
  const texts = textsOf(sourceOf(template))
  return `${[sanitize(name), ...facts].join('\n')}\n\n${texts}`
}

/** Texts → each under its name. */
function textsOf({ subject, html, mjml, text }: Texts): string {
  const blocks = [
    ['Text', text],
    ['HTML', html],
    ['MJML', mjml],
  ].flatMap(([head, body]) => (body == null ? [] : [`${head}:\n${body.trimEnd()}`]))
  return [...(subject == null ? [] : [`Subject: ${sanitize(subject)}`]), ...blocks].join('\n\n')
}
