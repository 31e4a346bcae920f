// The linter's rules: what its authors recommend with types, and no promise that is lost.
import tseslint from 'typescript-eslint';

export default tseslint.config(
  { ignores: ['dist/', 'prebuilds/', 'test/', 'tools/', 'esm/', 'eslint.config.mjs'] },
  ...tseslint.configs.recommendedTypeChecked,
  { languageOptions: { parserOptions: { project: './tsconfig.json' } } },
);
