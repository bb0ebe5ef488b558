import { type Command, Option } from 'commander'
import { TEMPLATE_KINDS } from '../../model/template.ts'
import { gather, whole, withOrganization, withVariables } from '../options.ts'

/** `postrider template …`. */
export function addTemplates(program: Command): void {
  const parent = program
    .command('template')
    .description('create, change and render templates from files')
    .addHelpText(
      'after',
      '\nFor React Email and the templates of other services: npx postrider-templates (manual: react-email)',
    )
  const add = (words: string) => withOrganization(parent.command(words))
  const kind = (about: string) => new Option('--kind <kind>', about).choices(TEMPLATE_KINDS)
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

  add('list')
    .description('list templates, newest first')
    .addOption(kind('only templates of this kind'))
    .action(async (options) => (await import('../template.ts')).listTemplates(options))
  withVersion(add('show <template>'))
    .description('show a template, by id or alias')
    .action(async (name, options) => (await import('../template.ts')).showTemplate(name, options))
  add('versions <template>')
    .description('list the versions of a template, newest first')
    .action(async (name, options) => (await import('../template.ts')).listVersions(name, options))
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
  add('delete <template>')
    .description('delete a template and all its versions')
    .action(async (name, options) => (await import('../template.ts')).deleteTemplate(name, options))
  withVariables(withVersion(add('render <template>')))
    .description('fill a template with variables and print it; nothing is sent')
    .action(async (name, options) => (await import('../template.ts')).renderTemplate(name, options))
}

function withVersion(command: Command): Command {
  const parser = (text: string) => whole(text, 1, 999_999, 'version')
  return command.option('--version <number>', 'an earlier version', parser)
}
