import { type Token, TokenKind } from 'liquidjs'
import type { Shape } from './shape.ts'

/** When a part of a template renders: always where all these values are present, or, with `other`, in cases that no
 *  type can express. */
export type Guard = Shape | 'other'

/** A condition in postfix order, and what its variables stand for → the guards of its branch. Marks variables that are
 *  compared with a text or number as such. `shapeOf` gives null for what is no variable of the message. */
export function guardsOf(postfix: readonly Token[], shapeOf: (token: Token) => Shape | null): Guard[] {
  const stack: Operand[] = []
  for (const token of postfix) {
    if (token.kind !== TokenKind.Operator) stack.push(operandOf(token, shapeOf))
    else if (token.getText() === 'not') stack.push({ ...COMPUTED, guards: negated(stack.pop()) })
    else {
      const right = stack.pop() ?? COMPUTED
      const left = stack.pop() ?? COMPUTED
      stack.push({ ...COMPUTED, guards: combined(token.getText(), left, right) })
    }
  }
  return stack.length === 1 ? stack[0]!.guards : ['other']
}

interface Operand {
  shape: Shape | null
  /** The text of a literal; null for everything else. */
  literal: string | null
  guards: Guard[]
}

const COMPUTED: Operand = { shape: null, literal: null, guards: ['other'] }
const negated = (_: Operand | undefined): Guard[] => ['other']

function operandOf(token: Token, shapeOf: (token: Token) => Shape | null): Operand {
  if (token.kind === TokenKind.PropertyAccess) {
    const shape = shapeOf(token)
    return { shape, literal: null, guards: shape === null ? ['other'] : [shape] }
  }
  const literal = token.getText()
  return { shape: null, literal, guards: literal === 'true' ? [] : ['other'] }
}

function combined(operator: string, left: Operand, right: Operand): Guard[] {
  if (operator === 'and') return [...left.guards, ...right.guards]
  if (operator === 'or' || operator === 'contains') return ['other']
  for (const [one, another] of [
    [left, right],
    [right, left],
  ] as const) {
    if (one.shape !== null && another.literal !== null && TEXT.test(another.literal)) one.shape.evidence.add('text')
  }
  const isPresence = left.shape !== null && right.literal !== null && PRESENCE.has(`${operator} ${right.literal}`)
  return isPresence ? [left.shape!] : ['other']
}

/** A text that is not empty, or a number. An empty text is also compared with lists. */
const TEXT = /^(?:["']..|-?\d)/s
/** Comparisons that hold for every ordinary value that is present. */
const PRESENCE = new Set(
  ['nil', 'null', 'empty', 'blank', 'false', '""', "''"].map((literal) => `!= ${literal}`).concat('> 0', '== true'),
)
