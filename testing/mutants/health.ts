import { edit, type Mutant, proof } from './mutant.ts'

/** Alarms: bugs here leave an operator without a word. */
export const healthMutants: readonly Mutant[] = [
  {
    name: 'full-volume-unsaid',
    about: 'the volume of the database is full, and nothing says so',
    edits: [
      edit(
        'src/runtime/db/db.ts',
        'if (isVolumeFull(error)) refused =',
        'if (isVolumeFull(error) && refused) refused =',
      ),
    ],
    test: proof('testing/suites/processes/health.test.ts', 'property 151'),
  },
  {
    name: 'silent-chain-unsaid',
    about: 'no endpoint of a chain answers, and nothing says so',
    edits: [
      edit(
        'src/engines/indexer/silent-chains.ts',
        'const raises = !isRaised &&',
        'const raises = isRaised &&',
      ),
    ],
    test: proof('src/engines/indexer/endpoint-lag.test.ts', 'property 152'),
  },
  {
    name: 'newer-schema-unsaid',
    about: 'a process of an older version runs beside newer tables, and nothing says so',
    edits: [
      edit(
        'src/runtime/db/newer-schema.ts',
        'report(migrations.length > 0 ? { migrations } : undefined)',
        'report(migrations.length > 1_000 ? { migrations } : undefined)',
      ),
    ],
    test: proof('testing/suites/processes/worker-health.test.ts', 'property 155'),
  },
]
