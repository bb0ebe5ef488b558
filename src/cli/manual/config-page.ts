import { toml } from '../../config/example.ts'
import { environmentName, isSection, root } from '../../config/paths.ts'
import type { Key, OpenSection, Section } from '../../config/schema.ts'
import { bold, entry, heading, plain, subheading, title } from './roff.ts'

/** The table of config keys → postrider-config(5). */
export function configPage(version: string): string {
  return [
    title('POSTRIDER-CONFIG', 5, version),
    heading('NAME'),
    `postrider-config \\- ${plain('the config file of postrider(1)')}`,
    heading('DESCRIPTION'),
    plain(
      'A TOML file, /etc/postrider/config.toml unless --config names another. Unknown keys and wrong values are refused at the start, all at once, with file and line. Every key can also come from the environment, which wins; a secret also from a file that <key>_file names, or from the credentials of systemd. Times and sizes carry their unit in the name.',
    ),
    heading('KEYS'),
    ...sectionText(root, []),
    heading('SEE ALSO'),
    `${bold('postrider')}(1)`,
  ].join('\n')
}

function sectionText(section: Section | OpenSection, path: string[]): string[] {
  const nodes = Object.entries(section.keys)
  const keys = nodes.filter((each): each is [string, Key] => !isSection(each[1]))
  const open =
    'other' in section
      ? Object.entries(section.other.keys).filter((each): each is [string, Key] => !isSection(each[1]))
      : []
  const text =
    path.length === 0 ? [] : [subheading(`[${path.join('.')}]`), plain(section.about.replaceAll(/\s+/g, ' '))]
  const below = nodes.flatMap(([name, node]) => (isSection(node) ? sectionText(node, [...path, name]) : []))
  // What every name of an open section takes is told once, under its own name.
  const each = open.length > 0 && below.length === 0 ? open : keys
  return [...text, ...each.map(([name, key]) => keyText(name, key, path)), ...below]
}

function keyText(name: string, key: Key, path: string[]): string {
  const words = [key.about.replaceAll(/\s+/g, ' '), `Expected: ${key.kind.expected}${key.unit ? `, ${key.unit}` : ''}.`]
  words.push(key.fallback === undefined ? 'Required.' : `Default: ${toml(key.fallback)}.`)
  if (key.isSecret) words.push('A secret.')
  words.push(`${environmentName([...path, name].join('.'))}.`)
  return entry(bold(name), words.join(' '))
}
