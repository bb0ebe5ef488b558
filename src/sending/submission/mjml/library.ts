import parseXml from 'mjml-parser-xml'
import preset from 'mjml-preset-core'

/** The MJML library with its standard components, as bundle.ts bundles it. */

// Imported as ECMAScript modules, these two would have no default export.
const core: typeof import('mjml-core') = require('mjml-core')
const validator: typeof import('mjml-validator') = require('mjml-validator')
const { assignComponents, components, initializeType } = core
const { assignDependencies, dependencies } = validator

const juice: { codeBlocks: Record<string, unknown> } = require('juice')

assignComponents(components, preset.components)
assignDependencies(dependencies, preset.dependencies)
// By default, the inliner of CSS looks for the syntax of two template languages with slow regular expressions.
for (const language of Object.keys(juice.codeBlocks)) delete juice.codeBlocks[language]

/** Elements that are components. */
export const elements = Object.keys(components)

/** Elements whose content is HTML. */
export const htmlElements = preset.components.filter(({ endingTag }) => endingTag).map((each) => each.getTagName())

/** Elements of which an `mj-raw` inside is part of the html. */
export const rawParents = Object.keys(preset.dependencies).filter(
  (name) => name !== 'mjml' && preset.dependencies[name]?.includes('mj-raw'),
)

/** MJML → its elements. Includes are ignored. */
export const parse = (source: string) => parseXml(source, { components, filePath: null, ignoreIncludes: true })

/** Elements → faults with line and message. */
export const validate = (tree: MjmlNode) => validator.default(tree, { components, dependencies, initializeType })

/** Elements → html. It loads no fonts but those of `mj-font`; by default, the library adds Google's. Variables of CSS are not
 *  resolved, because the inliner does it with slow regular expressions. */
export const render = async (tree: MjmlNode) => {
  const juiceOptions = { resolveCSSVariables: false } as const
  const { html } = await core.default(tree, { fonts: {}, filePath: null, validationLevel: 'skip', juiceOptions })
  return html
}
