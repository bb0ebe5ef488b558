/** What turns rendered mails into Liquid, without the process that renders them. The executable contains it as one
 *  compressed file (scripts/build/packages.ts). */
export { comparable, simplified, withPadding } from './compare.ts'
export { computes, createMarks } from './marks.ts'
export { probesFor, withValue } from './probes.ts'
export { ConversionFault, propsOf, shapeOf, variablesOf } from './shape.ts'
export { liquidOf } from './structure.ts'
export { excerpt, pathWords } from './words.ts'
