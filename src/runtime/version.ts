import { readFileSync } from 'node:fs'

const manifest = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')

/** The version of the program, as its manifest has it. */
export const { version } = JSON.parse(manifest) as { version: string }
