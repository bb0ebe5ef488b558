// The MJML packages have no types of their own. These are the parts that library.ts uses.

interface MjmlNode {
  tagName: string
  /** From 1. */
  line: number
  attributes: Record<string, string | boolean>
  children?: MjmlNode[]
}

interface MjmlComponent {
  endingTag?: boolean
  getTagName(): string
}

interface MjmlPreset {
  components: MjmlComponent[]
  dependencies: Record<string, (string | RegExp)[]>
}

declare module 'mjml-core' {
  export const components: Record<string, MjmlComponent>
  export function assignComponents(target: Record<string, MjmlComponent>, added: MjmlComponent[]): void
  export function initializeType(type: string): unknown
  export default function mjml2html(
    tree: MjmlNode,
    options: {
      fonts: Record<string, string>
      filePath: null
      validationLevel: 'skip'
      juiceOptions: { resolveCSSVariables: false }
    },
  ): Promise<{ html: string }>
}

declare module 'mjml-parser-xml' {
  export default function parse(
    source: string,
    options: { components: Record<string, MjmlComponent>; filePath: null; ignoreIncludes: true },
  ): MjmlNode
}

declare module 'mjml-preset-core' {
  const preset: MjmlPreset
  export default preset
}

declare module 'mjml-validator' {
  export const dependencies: MjmlPreset['dependencies']
  export function assignDependencies(target: MjmlPreset['dependencies'], added: MjmlPreset['dependencies']): void
  export default function validate(
    tree: MjmlNode,
    options: {
      components: Record<string, MjmlComponent>
      dependencies: MjmlPreset['dependencies']
      initializeType: (type: string) => unknown
    },
  ): { line: number; message: string; tagName: string }[]
}
