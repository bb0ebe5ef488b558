import { backends } from './backends.ts'
import { holdAgainstContract } from './contract.ts'

for (const backend of backends) holdAgainstContract(backend)
