declare module 'js-yaml3' {
  export { load } from 'js-yaml';
}
