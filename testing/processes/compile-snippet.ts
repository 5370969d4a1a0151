import { build } from 'esbuild'

/** Arguments of `node` that run a few lines of TypeScript, with their imports from the sources, in a separate process. */
export async function compileSnippet(contents: string): Promise<string[]> {
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: import.meta.dirname, loader: 'ts' },
    bundle: true,
    write: false,
    platform: 'node',
    format: 'esm',
    conditions: ['source'],
    packages: 'external',
  })
  return ['--input-type=module', '--eval', outputFiles[0]!.text]
}
